"""Two tables compared by their keys: which columns fit, one full outer join, and hashes of rows."""
