"""Random texts around the border between accepted and refused, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from dq_dagster.sql.functions import (
    AGGREGATES,
    ALLOWED,
    HIGHER_ORDER,
    SIZE_SECOND,
    UNIT_FIRST,
    Role,
)
from dq_dagster.sql.keywords import SHAPING, STATEMENT_STARTS
from dq_dagster.sql.refused_functions import REFUSED

# Stands for the spaces within a literal or a name until the tokens are put together.
_GAP = "\x1f"


def _split(texts: str) -> tuple[str, ...]:
    return tuple(texts.replace(" ", _GAP).split("¦"))


_PIECES = (
    *"""'¦''¦"¦""¦`¦``¦\\¦\\\\¦\\'¦\\"¦r'¦R"¦x'¦e'¦--¦/*¦*/¦/*+¦;¦${¦{{¦?¦:p¦$$¦#¦//""".split("¦"),
    *"(¦)¦[¦]¦,¦.¦*¦a¦b¦1¦1L¦.5¦ ¦ ¦ ¦\n¦\t¦\r¦Ä¦\u00a0¦=¦<=>¦->¦::int¦ or ¦ and ¦ not ¦!".split(
        "¦"
    ),
    *r"""\u0027¦\U00000027¦\0¦%¦_¦select ¦a = 'b'¦a = `b`¦a = "b"¦a = r'\'¦(a)¦f(a)¦abs(a)""".split(
        "¦"
    ),
)
_WORDS = (
    *sorted(SHAPING | STATEMENT_STARTS | UNIT_FIRST),
    *("count", "sum", "max", "over", "ignore"),
    *"""
    a b day year date timestamp x user time offset window at identifier default position stream
    lateral percent array struct exists if replace current_date string int zone nulls
    """.split(),
)
_SYMBOLS = _split("(¦)¦[¦]¦,¦.¦=¦<¦>¦-¦+¦*¦!¦->¦::¦||¦~")
_LITERALS = _split(
    r"""1¦10L¦2S¦1.5BD¦1e3D¦.5¦1.¦null¦true¦'s'¦'it''s'¦'\'--'¦"d""q"¦r'\'¦'/*'¦X'1F'¦"""
    "date'2020-01-01'¦timestamp '2020-01-01 00:00:00'¦interval '1' day¦interval 2 hours¦"
    "interval '1-2' year to month¦interval '1 day'"
)
_COLUMNS = _split("a¦b¦A¦a.b¦a[0]¦a['k'].c¦`a b`¦`a``b`¦`-- x`¦`'`¦`select`")
_TYPES = _split("int¦string¦date¦decimal(10,2)¦varchar(3)¦array<int>¦map<string,int>")
_OPERATORS = _split("=¦==¦<=>¦<>¦!=¦<¦<=¦>¦>=¦+¦-¦*¦/¦%¦div¦||¦&¦^")
_PREDICATES = (
    *("{value}", "{value}", "{value} is{negation}null", "{value} is{negation}true"),
    "{value} is{negation}distinct from {other}",
    "{value}{negation}between {other} and {other}",
    "{value}{negation}in ( {list} )",
    "{value}{negation}like {other}",
    "{value}{negation}like 'x' escape '!'",
    "{value}{negation}ilike any ( 's' , 'it''s' )",
    "{value}{negation}rlike {other}",
)
_OPERANDS = (
    *(
        "( {boolean} )",
        "( {list} , a )",
        "cast ( {boolean} as {type} )",
        "{column} :: decimal(10,2)",
    ),
    "case when {boolean} then {boolean} end",
    "case {value} when 1 then 2 else {boolean} end",
    "extract ( year from {value} )",
    "lpad ( {value} , 3 , {value} )",
    "round ( {value} , - 2 )",
    "dateadd ( day , {value} , {value} )",
    "trim ( both {value} from {value} )",
    "trim ( {value} from {value} )",
    "position ( {value} in {value} )",
    "substring ( {value} from {value} for {value} )",
    "overlay ( {value} placing {value} from {value} )",
    "rlike ( {value} , {value} )",
    "{column} collate unicode_ci",
    "interval 1 day 2 hours",
    "{higher_order} ( {value} , {variables} -> v + {boolean} )",
)


def quote_soup(seed: int, count: int) -> Iterator[str]:
    """Quotes, escapes, comment starts and brackets in any order."""
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choice(_PIECES) for _ in range(rng.randint(1, 9)))


def quoted_texts(seed: int, count: int) -> Iterator[str]:
    """Comparisons with strings and names in all kinds of quotes, around any content."""
    rng = random.Random(seed)
    for _ in range(count):
        sides = (_quoted(rng) for _ in range(rng.randint(1, 3)))
        yield " = ".join(sides)


def _quoted(rng: random.Random) -> str:
    content = "".join(rng.choice(_PIECES) for _ in range(rng.randint(0, 4)))
    opening, closing = rng.choice((("'", "'"), ('"', '"'), ("`", "`"), ("r'", "'"), ('R"', '"')))
    if rng.random() < 0.7:
        content = content.replace(closing, closing * 2)
    return opening + content + closing


def expressions(seed: int, count: int) -> Iterator[str]:
    """Expressions as the grammar allows them, half of them with a few tokens gone wrong."""
    rng = random.Random(seed)
    return _half_wrong(rng, (Expressions(rng).boolean(rng.randint(0, 3)) for _ in range(count)))


def aggregate_expressions(seed: int, count: int) -> Iterator[str]:
    """The same over aggregates instead of columns."""
    rng = random.Random(seed)
    writer = AggregateExpressions(rng)
    return _half_wrong(rng, (writer.boolean(rng.randint(0, 3)) for _ in range(count)))


def _half_wrong(rng: random.Random, texts: Iterator[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        tokens = text.split(" ")
        if number % 2:
            for _ in range(rng.randint(1, 3)):
                _mutate(tokens, rng)
        yield " ".join(tokens).replace(_GAP, " ")


def _mutate(tokens: list[str], rng: random.Random) -> None:
    place = rng.randrange(len(tokens))
    change = rng.randrange(4)
    if change == 0:
        tokens[place] = rng.choice(_WORDS)
    elif change == 1:
        tokens.insert(place, rng.choice(_WORDS + _SYMBOLS + _LITERALS))
    elif change == 2:
        tokens[place] = rng.choice(_SYMBOLS)
    elif len(tokens) > 1:
        del tokens[place]


class Expressions:
    """Writes random expressions, from the loosest operators down to the tightest."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def boolean(self, depth: int) -> str:
        prefix = self._rng.choice(("", "", "", "not ", "! "))
        if depth and self._rng.random() < 0.4:
            joined = self._rng.choice((" and ", " or "))
            return prefix + self.boolean(depth - 1) + joined + self.boolean(depth - 1)
        return prefix + self._predicate(depth)

    def _predicate(self, depth: int) -> str:
        inner = depth - 1 if depth else 0
        template = self._rng.choice(_PREDICATES)
        return template.format(
            value=self.value(depth),
            negation=self._rng.choice((" ", " not ")),
            other=self.value(inner),
            list=self._list(inner),
        )

    def value(self, depth: int) -> str:
        if depth and self._rng.random() < 0.5:
            operator = self._rng.choice(_OPERATORS)
            return f"{self.value(depth - 1)} {operator} {self.value(depth - 1)}"
        sign = self._rng.choice(("", "", "", "- ", "+ ", "~ "))
        return sign + self._operand(depth)

    def _operand(self, depth: int) -> str:
        if not depth or self._rng.random() < 0.4:
            return self._leaf()
        if self._rng.random() < 0.4:
            return self._call(depth - 1)
        return self._rng.choice(_OPERANDS).format(
            boolean=self.boolean(depth - 1),
            value=self.value(depth - 1),
            list=self._list(depth - 1),
            type=self._rng.choice(_TYPES),
            column=self._leaf(),
            variables=self._rng.choice(("a", "v", "`v.w`", "( v , w )")),
            higher_order=self._rng.choice(sorted(HIGHER_ORDER)),
        )

    def _leaf(self) -> str:
        return self._rng.choice(_LITERALS + _COLUMNS + _COLUMNS)

    def _call(self, depth: int) -> str:
        ordinary = ALLOWED - HIGHER_ORDER - UNIT_FIRST - SIZE_SECOND - {"extract"}
        pool = ordinary if self._rng.random() < 0.95 else REFUSED
        arguments = self._rng.choice(("", self._list(depth), self._list(depth)))
        return f"{self._rng.choice(sorted(pool))} ( {arguments} )"

    def _list(self, depth: int) -> str:
        write = self.boolean if depth else self.value
        return " , ".join(write(depth) for _ in range(self._rng.randint(1, 2)))


class AggregateExpressions(Expressions):
    """Writes random expressions whose leaves are aggregates, now and then a column."""

    def _leaf(self) -> str:
        if self._rng.random() < 0.2:
            return self._rng.choice(_LITERALS)
        if self._rng.random() < 0.02:
            return self._rng.choice(_COLUMNS)
        call = "count ( * )" if self._rng.random() < 0.1 else self._aggregate()
        if self._rng.random() < 0.2:
            call += f" filter ( where {Expressions(self._rng).boolean(1)} )"
        return call

    def _aggregate(self) -> str:
        name = self._rng.choice(sorted(AGGREGATES))
        signature = AGGREGATES[name]
        within = Expressions(self._rng)
        settings = {
            Role.FRACTION: "0.5",
            Role.ACCURACY: "100",
            Role.DEVIATION: "0.05",
            Role.TRUE: "true",
        }
        count = self._rng.randint(signature.least, len(signature.roles) + signature.repeats)
        arguments = [
            settings.get(signature.role(n) or Role.VALUE) or within.boolean(self._rng.randint(0, 1))
            for n in range(count)
        ]
        distinct = "distinct " if signature.distinct and self._rng.random() < 0.2 else ""
        return f"{name} ( {distinct}{' , '.join(arguments)} )"
