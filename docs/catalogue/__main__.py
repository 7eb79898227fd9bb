"""Writes the generated pages; with --check, only says whether they are up to date."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from docs.catalogue.examples import NotJudged
from docs.catalogue.pages import ROOT, pages
from docs.catalogue.template import Misplaced, require_places
from dq_dagster.spark.session.session import current_session

COMMAND = "./dev docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    try:
        wanted = _pages()
    except (Misplaced, NotJudged) as error:
        print(error, file=sys.stderr)
        return 1
    dated = {file: text for file, text in wanted.items() if _current(file) != text}
    for file, text in dated.items():
        if options.check:
            print(_difference(file, text))
        else:
            file.write_text(text, encoding="utf-8")
            print(f"Wrote {file.relative_to(ROOT)}")
    if options.check and dated:
        print(f"These pages are out of date. Run {COMMAND} to write them anew.", file=sys.stderr)
        return 1
    return 0


def _pages() -> dict[Path, str]:
    require_places()  # For which no Spark has to be started.
    # In a zone of its own, not that of whoever runs this.
    session = current_session({"spark.master": "local[1]", "spark.sql.session.timeZone": "UTC"})
    try:
        return pages(session)
    finally:
        session.stop()


def _current(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _difference(file: Path, text: str) -> str:
    name = str(file.relative_to(ROOT))
    lines = difflib.unified_diff(
        _current(file).splitlines(), text.splitlines(), name, f"{name} as generated", lineterm=""
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
