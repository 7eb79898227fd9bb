"""What evaluations keep of partitions, so that later ones need not read them again."""

from __future__ import annotations

from dq_dagster.evaluation.states import Block as Block
from dq_dagster.evaluation.states import KeptStates as KeptStates
from dq_dagster.evaluation.states import Reuse as Reuse
