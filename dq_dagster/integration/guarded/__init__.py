"""Guarded assets: bad rows never reach the table. Written, judged, then published, in one step."""
