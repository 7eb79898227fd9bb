"""What evaluations keep of partitions, so that later ones need not read them again."""

from __future__ import annotations

from dq_dagster.evaluation.states.reuse import Block as Block
from dq_dagster.evaluation.states.reuse import KeptStates as KeptStates
from dq_dagster.evaluation.states.reuse import Reuse as Reuse
