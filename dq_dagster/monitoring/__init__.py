"""What became of checks: statuses, timelines, scores, from the event log alone.

``monitor.Monitor`` is the front door; ``views.shapes`` has what it gives. The index is derived and
can be deleted at any time.
"""
