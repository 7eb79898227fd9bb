"""The pieces of pages: strips, rings, calendars, texts in Markdown, host names."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.views.shapes import (
    GroupBreakdown,
    GroupStatus,
    RuleInfo,
    StatusDay,
)
from dq_dagster.web.calendar_days import DAYS, CalendarPage, months_of
from dq_dagster.web.drawings import points, ring, shares, strip
from dq_dagster.web.links import (
    DagsterLinks,
    ServedLinks,
    choice_of,
    chosen_partition,
    is_web_address,
)
from dq_dagster.web.markdown import text_of
from dq_dagster.web.pages import options_of
from dq_dagster.web.rendering import breakable, days_on_record, environment, render, visible
from dq_dagster.web.security import allowed_hosts, host_name, is_loopback

OK, WARNING, ERROR = Status.OK, Status.WARNING, Status.ERROR


def test_the_worse_a_day_the_higher_it_stands() -> None:
    drawn = strip([OK, ERROR, WARNING])
    assert 'class="fill-ok" d="M0 14h5v8h-5z"' in drawn
    assert 'class="fill-error" d="M7 0h5v22h-5z"' in drawn
    assert 'class="fill-warning" d="M14 7h5v15h-5z"' in drawn
    assert "The last 3 days: 1 Error, 1 Warning, 1 Ok" in drawn
    assert "nothing computed" in strip([])


def test_shares_show_even_the_smallest() -> None:
    drawn = shares({OK: 1_999, ERROR: 1})
    assert 'aria-label="1 Error, 1,999 Ok"' in drawn
    assert 'class="fill-error" x="0.0" y="0" width="3.0"' in drawn


@pytest.mark.parametrize(
    ("score", "shown"), [(100, "100"), (99.96, "99.9"), (0, "0"), (83.333, "83.3"), (99.9, "99.9")]
)
def test_only_what_is_perfect_is_100(score: float, shown: str) -> None:
    assert points(score) == shown
    assert f">{shown}</text>" in ring(score, OK)


def test_no_score_is_said() -> None:
    assert 'aria-label="Score: none"' in ring(None, Status.NOT_COMPUTED)


def test_a_calendar_has_whole_months_the_newest_first() -> None:
    first = date(2024, 1, 30)
    days = [StatusDay(first + timedelta(days=n), OK, ERROR if n == 1 else None) for n in range(3)]
    february, january = months_of(days)
    assert (february.name, january.name) == ("February 2024", "January 2024")
    assert (len(february.days), february.days[0].column) == (29, 4)
    assert [one.known for one in january.days].count(True) == 2
    assert [one.recovered for one in january.days[-2:]] == [False, True]
    assert months_of([]) == []


def test_a_calendar_begins_with_what_is_known() -> None:
    unknown = [
        StatusDay(date(2024, 1, 1) + timedelta(days=n), Status.NOT_COMPUTED) for n in range(60)
    ]
    [only] = months_of([*unknown, StatusDay(date(2024, 3, 1), OK, OK)])
    assert (only.name, [one.known for one in only.days].count(True)) == ("March 2024", 1)
    assert [one.name for one in months_of(unknown)] == ["February 2024"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("orders_by_day", "orders_<wbr>by_<wbr>day"),
        ("shop/eu.orders", "shop/<wbr>eu.<wbr>orders"),
        ("__init__", "__init__"),
        ("a_<b>", "a_&lt;b&gt;"),
        ("", "&#39;&#39;"),
        (" ", "&#39; &#39;"),
        ("a\nb", "a\\nb"),
        ("\u202egnp.exe", "\\u202egnp.<wbr>exe"),
    ],
)
def test_names_break_at_their_separators(name: str, shown: str) -> None:
    assert breakable(name) == shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("größe 日本 👩\u200d🔬", "größe 日本 👩\u200d🔬"),
        ("two\nlines\tand\xa0more", "two\nlines\tand\xa0more"),
        ("a\x00b\x1b[31m\x9b", "a\\x00b\\x1b[31m\\x9b"),
        ("\u202ea\u202c\u2066b\u2069\u200f", "\\u202ea\\u202c\\u2066b\\u2069\\u200f"),
        ("\u2028\u200b\ufeff\U000e0041", "\\u2028\\u200b\\ufeff\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, seen: str) -> None:
    assert visible(text) == seen
    page = environment().from_string("<i title='{{ text }}'>{{ text }}</i>").render(text=text)
    assert page == f"<i title='{seen}'>{seen}</i>"


@pytest.mark.parametrize("key", ["2024-03-01", "100 %41", "a\x00b", "\r\n", "partition:x", "a&b"])
def test_a_partition_survives_forms_and_addresses(key: str) -> None:
    assert chosen_partition(choice_of(key)) == key
    assert not re.search(r"[\x00-\x1f]", choice_of(key))


def test_what_is_chosen_can_be_seen_however_many_partitions_there_are() -> None:
    keys = [None, *(f"{n:04}" for n in range(2_000))]
    options = options_of(keys, "")
    assert (len(options), options[:2]) == (
        500,
        [("whole", "whole dataset"), ("partition:0000", "0000")],
    )
    for key in ("1999", "older than those"):
        options = options_of(keys, choice_of(key))
        assert (choice_of(key), key) in options
        assert len(dict(options)) == len(options) <= 501


def days_of(first: date, last: date, ran: date) -> list[StatusDay]:
    """Nothing before ``ran``, and nothing on any later day."""
    every = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        StatusDay(day, OK if day >= ran else Status.NOT_COMPUTED, OK if day == ran else None)
        for day in every
    ]


def test_a_calendar_is_turned_by_whole_months() -> None:
    today, ran = date(2024, 5, 19), date(2023, 12, 31)
    newest = CalendarPage.of(days_of(today - timedelta(days=DAYS - 1), today, ran), last=today)
    assert newest.days[0].day == date(2024, 2, 1)
    assert (newest.earlier, newest.later) == (date(2024, 1, 31), None)
    assert newest.earlier is not None
    first = newest.earlier - timedelta(days=DAYS - 1)
    before = CalendarPage.of(days_of(first, newest.earlier, ran), last=today)
    assert before.days[0].day == date(2023, 10, 1)
    assert (before.earlier, before.later) == (None, today)
    assert CalendarPage.of([], last=today) == CalendarPage(())


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (30, "the last 30 days"),
        (0, "the last 30 days"),
        (1, "1 day on record of the last 30 days"),
        (12, "12 days on record of the last 30 days"),
    ],
)
def test_a_strip_says_how_much_is_on_record(known: int, words: str) -> None:
    statuses = [Status.NOT_COMPUTED] * (30 - known) + [OK] * known
    assert days_on_record([StatusDay(date(2024, 1, 1), one) for one in statuses]) == words


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words", "plain words"),
        ("[x](javascript:alert(1))", r"\[x\](javascript\:alert(1))"),
        ("<script>", "&lt;script&gt;"),
        ("a|b\n# c", r"a\|b \# c"),
        ("@everybody", "@\u200beverybody"),
        ("https://x.y", r"https\://x.y"),
        ("`*_~", r"\`\*\_\~"),
        ("&amp;", "&amp;amp;"),
        ("www.x.y", r"www\.x.y"),
        ("2.5 % of 'a' (none allowed).", "2.5 % of 'a' (none allowed)."),
        ("a\x00b\x1b[31m", r"a\\x00b\\x1b\[31m"),
        ("\u202egnp.exe", r"\\u202egnp.exe"),
        ("W" * 401, "W" * 399 + "…"),
    ],
)
def test_markdown_shows_texts_as_they_are(text: str, written: str) -> None:
    assert text_of(text) == written


@pytest.mark.parametrize(
    ("header", "name"),
    [("a:80", "a"), ("[::1]:3001", "::1"), ("LOCALHOST", "localhost"), ("", ""), ("[::1", "::1")],
)
def test_the_host_of_a_header(header: str, name: str) -> None:
    assert host_name(header) == name


def test_which_hosts_are_known() -> None:
    assert allowed_hosts("0.0.0.0", ["DQ.example"]) == {
        "127.0.0.1",
        "localhost",
        "::1",
        "0.0.0.0",
        "dq.example",
    }
    loopback = ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"]
    assert all(map(is_loopback, loopback))
    assert not any(map(is_loopback, ["0.0.0.0", "example.com", "10.0.0.1"]))


def test_addresses_hold_any_name() -> None:
    links = ServedLinks(DagsterLinks("http://dagster/"))
    assert links.dataset("a/../b&c", view="timeline", day=None) == (
        "/dataset?asset=a%2F..%2Fb%26c&view=timeline"
    )
    assert links.run("../x") == "http://dagster/runs/..%2Fx"
    assert links.run("") is None
    assert links.asset("a/b c") == "http://dagster/assets/a/b%20c?view=checks"
    assert chosen_partition("partition:whole") == "whole"
    assert chosen_partition("whole") is None


@pytest.mark.parametrize(
    ("text", "good"),
    [("http://x", True), ("https://x/y", True), ("javascript:alert(1)", False), ("x", False)],
)
def test_links_lead_to_the_web_only(text: str, good: bool) -> None:
    assert is_web_address(text) is good


@pytest.mark.parametrize(
    ("impacts", "drawn"),
    [
        ([0.0008, 0.0004], [("0.0008", "0.0008"), ("0.0008", "0.0004")]),
        ([0.0, 0.0], [("1", "0.0"), ("1", "0.0")]),
        ([None], []),
    ],
)
def test_impacts_are_drawn_beside_the_largest(
    impacts: list[float | None], drawn: list[tuple[str, str]]
) -> None:
    groups = tuple(GroupStatus("a", None, 1, 0, "0", one) for one in impacts)
    at = datetime(2024, 3, 1, tzinfo=UTC)
    one = GroupBreakdown(RuleInfo("rows", "rows"), None, "country", at, groups)
    parts: Any = environment().get_template("parts.html").module
    page = parts.breakdown(one, ServedLinks(), "orders")
    assert re.findall(r'<progress max="([^"]+)" value="([^"]+)"', page) == drawn


def test_a_problem_is_escaped() -> None:
    from datetime import UTC, datetime

    page = render(
        "problem.html",
        links=ServedLinks(),
        now=datetime.now(UTC),
        place="",
        title="<b>",
        message="'\"&",
    )
    assert '<h1>&lt;b&gt;</h1><p class="said">&#39;&#34;&amp;</p>' in page
