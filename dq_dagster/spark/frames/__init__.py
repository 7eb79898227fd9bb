"""Data as Spark DataFrames: types, columns and their quoting, slicing, computing under ANSI."""
