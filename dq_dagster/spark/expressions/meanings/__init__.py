"""Meanings as SQL: which values of a column are valid. None of it can raise, on any text."""
