"""Suites A and B beside other tools: each in a process and a Spark session of its own.

There it meets no other tool's packages, and ours, the work by hand and one scan are measured with
it by the same clock. What it says is compared with ours first: on the table, and on one where
every rule is broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from examples.bench.answers import evaluate, evaluate_days
from examples.bench.data import DAY_KEYS, DAYS, orders
from examples.bench.everyday import BY_HAND, SCAN
from examples.bench.peers.cuallee import CUALLEE
from examples.bench.peers.dqx import DQX
from examples.bench.peers.great_expectations import GREAT_EXPECTATIONS
from examples.bench.peers.installing import installed
from examples.bench.peers.peer import (
    Peer,
    WrongAnswers,
    faulty,
    require_same_answers,
    require_same_days,
)
from examples.bench.peers.soda import SODA
from examples.bench.peers.spark_expectations import SPARK_EXPECTATIONS
from examples.bench.references import SCANNED, by_hand, scan
from examples.bench.report import Faster
from examples.bench.setting import Actions, Setting, new_session
from examples.bench.stopwatch import Action, Laps, measure, read_laps
from examples.bench.suites import EVERYDAY

PEERS = {
    peer.package: peer for peer in (GREAT_EXPECTATIONS, SODA, DQX, CUALLEE, SPARK_EXPECTATIONS)
}
# How many times faster ours is to be, by suite.
TIMES = {"A": 2.0, "B": 4.0}
_FAULTY_ROWS, _FAULTY_DAYS = 1_000, 2


def faster(suite: str, package: str) -> Faster:
    """What is to be said of a peer once it is measured."""
    rules = len(PEERS[package].rules)
    ours = f"{rules} rules" + (f", {DAYS} days and all" if suite == "B" else "")
    return Faster(ours, f"{ours}, {package}", TIMES[suite], package, rules)


def measured_beside(suite: str, package: str, setting: Setting) -> Laps | str:
    """In a process of its own; why not, if the tool does not run here."""
    peer = PEERS[package]
    rules = f"{len(peer.rules)} of {len(EVERYDAY)} rules"
    print(f"\nSuite {suite} beside {package}: {rules}, {setting.shape}", flush=True)
    file = setting.scratch / "beside.json"
    file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "examples.bench.peers.beside", json.dumps(_packed(setting))]
    done = subprocess.run([*command, suite, package, str(file)], check=False)
    if not file.exists():
        return f"its process ended with code {done.returncode}"
    found = json.loads(file.read_text(encoding="utf-8"))
    missing: str | None = found.get("missing")
    return missing or read_laps(found)


def _packed(setting: Setting) -> dict[str, object]:
    names = ("rows", "rounds", "small", "shape")
    packed = {name: getattr(setting, name) for name in names}
    return {**packed, "folder": str(setting.folder), "scratch": str(setting.scratch)}


def _main(packed: str, suite: str, package: str, file: str) -> None:
    """In the new process."""
    options = json.loads(packed)
    folder, scratch = Path(options.pop("folder")), Path(options.pop("scratch"))
    peer = PEERS[package]
    missing = installed(package, peer.module, folder / "peers", peer.own)
    found: Mapping[str, object]
    if missing is None:
        # Tables that other processes left behind would be in the way of new ones.
        warehouse = scratch / f"warehouse-{os.getpid()}"
        setting = Setting(new_session(warehouse), folder, scratch, **options)
        found = _measured(suite, peer, setting)
    else:
        found = {"missing": missing}
    Path(file).write_text(json.dumps(found), encoding="utf-8")


def _measured(suite: str, peer: Peer, setting: Setting) -> Mapping[str, object]:
    try:
        laps = measure(setting.spark, _actions(suite, peer, setting), setting.rounds)
    except WrongAnswers as error:
        return {"missing": str(error)}
    except Exception as error:  # noqa: BLE001 (whatever it is, the peer does not run here)
        first = str(error).strip().partition("\n")[0]
        return {"missing": f"{peer.package} fails: {type(error).__name__}: {first}"}
    return asdict(laps)["by_name"]  # type: ignore[no-any-return]


def _actions(suite: str, peer: Peer, setting: Setting) -> Actions:
    frame, said = setting.frame, faster(suite, peer.package)
    broken = faulty(orders(setting.spark, _FAULTY_ROWS).coalesce(1)).localCheckpoint()
    ours: Callable[[], object]
    theirs: Callable[[], object]
    if suite == "B":
        require_same_days(peer, broken, DAY_KEYS[:_FAULTY_DAYS])
        require_same_days(peer, frame, DAY_KEYS)
        ours = partial(evaluate_days, frame, DAY_KEYS, rules=peer.rules)
        theirs = peer.by_day(frame, DAY_KEYS)
    else:
        require_same_answers(peer, broken)
        require_same_answers(peer, frame)
        ours, theirs = partial(evaluate, frame, peer.rules), peer.whole(frame)
    return {
        SCAN: Action(partial(scan, frame, SCANNED)),
        BY_HAND: Action(partial(by_hand, frame)),
        said.ours: Action(ours),
        said.theirs: Action(theirs),
    }


if __name__ == "__main__":
    _main(*sys.argv[1:])
