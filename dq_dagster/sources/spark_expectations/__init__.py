"""Rules of Spark-Expectations, and what becomes of them here."""
