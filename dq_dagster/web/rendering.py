"""Templates to pages. Whatever comes from rules, data or the log is text: Jinja escapes it all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.judging.wording import NOTHING, plural, value_words
from dq_dagster.monitoring.views.shapes import StatusDay
from dq_dagster.web import drawings
from dq_dagster.web.links import choice_of, content_of

# After these, with a letter or a digit before and after them.
_SEPARATORS = re.compile(r"(?<=[^\W_][_/.-])(?=[^\W_])")
# What nobody sees, or what makes the text around it read otherwise than it is written: control
# characters but breaks and tabs, and those for the direction of text. Joiners stay, since scripts
# and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BREAKS = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
# A longer name gets a place of its own, in which it can be scrolled.
_LONG = 160
_LONGEST = 40


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("dq_dagster.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        choice=choice_of,
        value=value_words,
        utc=utc_words,
        word=drawings.WORDS.__getitem__,
        tone=drawings.CLASSES.__getitem__,
        badness=BADNESS.__getitem__,
        percent=drawings.percent,
        points=drawings.points,
        in_words=drawings.counts_in_words,
        amount=amount,
        breakable=breakable,
        long=lambda name: len(name) > _LONG,
        on_record=days_on_record,
        statuses=lambda some: drawings.counted([one.status for one in some]),
    )
    made.globals.update(
        strip=drawings.strip,
        ring=drawings.ring,
        shares=drawings.shares,
        statuses=drawings.WORST_FIRST,
        icons=Markup(content_of("icons.svg").decode()),  # noqa: S704 - a file of our own.
        Status=Status,
    )
    return made


def render(template: str, **context: Any) -> str:
    return environment().get_template(template).render(**context)


def visible(text: str) -> str:
    r"""The text with what cannot be seen written out, such as "\x1b" and "\u202e"."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shorter(text: str) -> str:
    """Its beginning and its end, if it is too long for a picture."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 13]}…{text[-12:]}"


def _shown(value: Any) -> Any:
    """Whatever a template writes; markup is of our own, and its texts came by here already."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def utc_words(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after its separators, rather than anywhere.

    One of blanks alone is quoted, so that there is something to see, and to click.
    """
    shown = visible(name).translate(_BREAKS) if name.strip() else repr(name)
    parts = _SEPARATORS.split(shown)
    return Markup("<wbr>").join(parts)


def days_on_record(days: Sequence[StatusDay]) -> str:
    """Such as "the last 30 days"; where less is on record, how many of them that is."""
    known = sum(one.last is not Status.NOT_COMPUTED for one in days)
    in_all = f"the last {plural(len(days), 'day')}"
    return in_all if known in {0, len(days)} else f"{plural(known, 'day')} on record of {in_all}"


def amount(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,}"
