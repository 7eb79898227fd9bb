"""Values that cross a shuffle in blocks of Arrow, where Spark's workers have Python and numpy.

Spark's own aggregation moves and hashes one row a value. Here a task sends the values of many rows
as one, and numpy does the rest. ``arrays``, ``tallies`` and ``ranks`` run on the workers, which
need not have this package: they are shipped with the query.
"""
