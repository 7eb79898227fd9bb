"""Rules from files and tables, as the same objects that Python code declares."""
