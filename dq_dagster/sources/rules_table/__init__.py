"""Rules from tables: one row is one rule."""
