"""Contracts of the Open Data Contract Standard (ODCS) 3.x: read, written, and compared."""
