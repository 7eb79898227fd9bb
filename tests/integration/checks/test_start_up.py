"""What loading rules and building checks takes: counted, since seconds depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ASSETS, RULES = 20, 10

# In a process of its own, since this one has imported everything.
PROGRAM = """
import sys
from pathlib import Path

import dagster

before = set(sys.modules)
import dq_dagster as dq

read = []
validate = dq.Rule.__init__

def counted(self, /, **fields):
    read.append(fields.get("name"))
    validate(self, **fields)

dq.Rule.__init__ = counted
rule_sets = dq.load_rules(Path(sys.argv[1]))
checks = [check for rules in rule_sets for check in dq.build_asset_checks(rules)]
late = {"pandas", "pyarrow", "numpy", "sqlalchemy", "alembic", "matplotlib"} - before
print(len(rule_sets), len(read), sum(len(list(one.check_specs)) for one in checks))
print(sorted(late & set(sys.modules)))
"""


def test_200_rules_of_20_assets_are_read_once_and_import_no_data_libraries(tmp_path: Path) -> None:
    for asset in range(ASSETS):
        rules = "".join(f"  - {{type: column_not_empty, columns: c{n}}}\n" for n in range(RULES))
        (tmp_path / f"a{asset}.yaml").write_text(f"asset: a{asset}\nrules:\n{rules}")
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == ["20 200 200", "[]"]
