"""Functions of users, as they are declared: the function itself, or where to import it from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, WithJsonSchema

from dq_dagster.judging.wording import presentable

_PATH = r"^\w+(\.\w+)*:\w+(\.\w+)*$"


def function_at(declared: Callable[..., Any] | str) -> Callable[..., Any]:
    """The function; raises ValueError if it cannot be imported or called."""
    function = _imported(declared) if isinstance(declared, str) else declared
    if not callable(function):
        raise ValueError(f"'{declared}' is not a function but {type(function).__name__}")  # noqa: TRY004 (pydantic's way)
    try:
        hash(function)
    except TypeError:
        raise ValueError("a function is needed, not an object that cannot be hashed") from None
    return function


def path_of(declared: Callable[..., Any] | str) -> str:
    """Where a function stands, such as ``shop.checks:no_gaps``."""
    if isinstance(declared, str):
        return declared
    name = getattr(declared, "__qualname__", type(declared).__qualname__)
    return f"{getattr(declared, '__module__', type(declared).__module__)}:{name}"


def refuse_misfit(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raises ValueError if the function does not take the data, a context and the arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Functions written in C need not say; calling them will.
        return
    try:
        signature.bind(None, None, **arguments)
    except TypeError as error:
        named = "".join(f", {name}=..." for name in arguments)
        raise ValueError(f"the function is called as (data, context{named}): {error}") from None


def _imported(path: str) -> Any:
    module, colon, names = path.partition(":")
    if not colon or not module or not names:
        raise ValueError(f"'{path}' is not a function's place: write package.module:function")
    try:
        found: Any = import_module(module)
    except Exception as error:  # noqa: BLE001 (a module may raise anything while it is imported)
        reason = presentable(f"{type(error).__name__}: {error}")
        raise ValueError(f"module '{module}' cannot be imported ({reason})") from None
    for name in names.split("."):
        if not hasattr(found, name):
            raise ValueError(f"there is no '{name}' in '{module}'")
        found = getattr(found, name)
    return found


def _usable(declared: Callable[..., Any] | str) -> Callable[..., Any] | str:
    function_at(declared)
    return declared


PythonFunction: TypeAlias = Annotated[
    Callable[..., Any] | str,
    AfterValidator(_usable),
    WithJsonSchema({"type": "string", "pattern": _PATH}),
]
