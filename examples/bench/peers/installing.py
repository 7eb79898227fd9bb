"""Tools that are installed on demand, each into a folder of its own, apart from the project."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def installed(package: str, module: str, folder: Path, own: Sequence[str] = ()) -> str | None:
    """Makes the module importable; says why not, if it cannot be had.

    What the project has itself stays as it is, but for the modules in ``own``: a package that
    works with no other version of them gets what was installed with it.
    """
    target = folder / package
    if not target.exists():
        print(f"  Installing {package} ...", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
        done = subprocess.run([*command, package], capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{package} cannot be installed: {done.stderr.strip().splitlines()[-1:]}"
    try:
        _import_first(target, own)
        sys.path.append(str(target))
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 (whatever it is, the peer does not run here)
        return f"{package} cannot be imported: {type(error).__name__}: {error}"
    return None


def _import_first(target: Path, modules: Sequence[str]) -> None:
    """Before the project's own: whoever imports them later gets these."""
    for module in [name for name in sys.modules if name.split(".")[0] in modules]:
        del sys.modules[module]
    sys.path.insert(0, str(target))
    try:
        for module in modules:
            importlib.import_module(module)
    finally:
        sys.path.remove(str(target))
