"""`dq-dagster ui` and `dq-dagster report`: what checks found, in a browser or as a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click

from dq_dagster.cli.input import BadInput
from dq_dagster.cli.monitoring.opened import location_options, opened

_NEEDED = ("starlette", "jinja2", "uvicorn", "matplotlib")
# By the end of a file's name.
_FORMS = {".md": "markdown", ".markdown": "markdown", ".json": "json"}
_DAGSTER = "http://127.0.0.1:3000"

_url = click.option(
    "--dagster-url",
    metavar="URL",
    envvar="DQ_DAGSTER_URL",
    help="Where Dagster's own pages are, for links to runs.",
)


@click.command("ui")
@location_options
@_url
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=3001,
    show_default=True,
    help="The port; 0: any that is free.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    metavar="NAME",
    multiple=True,
    help="A further host name that browsers may use; '*' for any. Can be repeated.",
)
def ui_command(
    *,
    modules: Sequence[str],
    files: Sequence[str],
    by: Literal["group", "location"],
    dagster_url: str | None,
    host: str,
    port: int,
    allow_hosts: Sequence[str],
) -> None:
    """Show statuses, timelines and histories in the browser.

    The pages only read. They need no code location, but know owners, dependencies and disabled
    rules only with one (-m, -f, or the project in this folder).
    """
    _check_installed()
    from dq_dagster.web.security import is_loopback
    from dq_dagster.web.server import listening, serve

    url = _web_address(dagster_url or _DAGSTER)
    try:
        taken = listening(host, port)
    except OSError as error:
        raise BadInput(
            f"{host}, port {port}, cannot be listened on: {error.strerror}. Choose others by "
            "--host and --port."
        ) from None

    if not is_loopback(host):
        click.echo("Everybody who reaches this address can read the pages: there is no login.")

    def ready(bound: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"Data quality is on http://{shown}:{bound} (Ctrl+C ends it).")

    with taken, opened(modules, files, by) as monitor:
        serve(
            monitor,
            taken,
            host=host,
            dagster_url=url,
            allow_hosts=allow_hosts,
            ready=ready,
        )


@click.command("report")
@location_options
@_url
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="Where to write it; '-': to the terminal."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown"]),
    help="By default what the file's name says: .md is Markdown, everything else a page.",
)
@click.option("--json", "machine", is_flag=True, help="Write JSON, for machines.")
@click.option("--asset", "assets", metavar="ASSET", multiple=True, help="Only this one.")
@click.option("--project", "projects", metavar="NAME", multiple=True, help="Only this project.")
@click.option("--title", default="Data quality", show_default=True)
def report_command(
    *,
    modules: Sequence[str],
    files: Sequence[str],
    by: Literal["group", "location"],
    dagster_url: str | None,
    output: str,
    form: str | None,
    machine: bool,
    assets: Sequence[str],
    projects: Sequence[str],
    title: str,
) -> None:
    """Write the pages as one file for mail and CI, or a summary in Markdown."""
    _check_installed()
    url = None if dagster_url is None else _web_address(dagster_url)
    make = _maker("json" if machine else form or _FORMS.get(Path(output).suffix, "html"))
    with opened(modules, files, by) as monitor:
        known = monitor.overview()
        _check_names("asset", assets, [one.asset for one in known.datasets])
        _check_names("project", projects, [one.name for one in known.projects])
        text = make(monitor, dagster_url=url, assets=assets, projects=projects, title=title)
    _write(text, output)


def _write(text: str, output: str) -> None:
    if output == "-":
        # A terminal of another encoding must not end in an error.
        sys.stdout.buffer.write(f"{text.rstrip()}\n".encode())
        sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"'{output}' cannot be written: {error.strerror}.") from None


def _maker(form: str) -> Callable[..., str]:
    from dq_dagster.web.markdown import markdown_report
    from dq_dagster.web.report import html_report, json_report

    return {"markdown": markdown_report, "json": json_report, "html": html_report}[form]


def _check_names(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise BadInput.unknown(what, name, known)


def _web_address(text: str) -> str:
    from dq_dagster.web.links import is_web_address

    if not is_web_address(text):
        raise BadInput(f"'{text}' is no address of the web, such as {_DAGSTER}.")
    return text


def _check_installed() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise BadInput(
            f"This needs {', '.join(missing)}. Install it with: pip install 'dq_dagster[ui]'"
        )
