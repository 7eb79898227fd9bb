"""Data as Spark DataFrames: types, columns, quoting, slicing."""
