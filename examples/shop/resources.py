"""What the shop runs on: a quiet local Spark, a folder for its tables, and its size."""

# No "from __future__ import annotations": Dagster reads the annotations of resources.
import os
from pathlib import Path

import dagster as dg
from dagster_pyspark import LazyPySparkResource

import dq_dagster as dq

# The tables lie beside Dagster's records of them, so that both are always of the same run;
# without such a place below the project, whatever the working directory is.
HOME = Path(os.environ.get("DAGSTER_HOME") or Path(__file__).resolve().parents[2] / "data")

pyspark = LazyPySparkResource(
    spark_config={
        "spark.master": "local[*]",
        "spark.app.name": "shop",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
)

io_manager = dq.SparkIOManager(pyspark=pyspark, path=str(HOME / "shop"))


class Shop(dg.ConfigurableResource[None]):
    """How large the shop is, and whether its prices have been repaired."""

    orders: int = 5_000
    repaired: bool = False

    @property
    def customers(self) -> int:
        return max(1, self.orders // 5)

    @property
    def products(self) -> int:
        return 200
