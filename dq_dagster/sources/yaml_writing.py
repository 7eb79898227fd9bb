"""Plain data as YAML that reads back as the same data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from dq_dagster.sources.yaml_text import SCALARS


class _Dumper(yaml.SafeDumper):
    """Quotes every text that would else be read as something other than text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002 (PyYAML's own)
        # Lists are indented below their key, as people write them.
        super().increase_indent(flow, indentless=False)


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # YAML takes these for line breaks, unless they are escaped.
    style = '"' if set(text) & {"\x85", "\u2028", "\u2029"} else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _decimal(dumper: _Dumper, value: Decimal) -> yaml.ScalarNode:
    if not value.is_finite():
        return dumper.represent_float(float(value))
    text = str(value)
    kind = "int" if SCALARS["tag:yaml.org,2002:int"].match(text) else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Decimal, _decimal)
for _tag, _pattern in SCALARS.items():
    _Dumper.add_implicit_resolver(_tag, _pattern, None)


def to_yaml(data: Any) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
