"""The event log in short: a local database that is filled forward, and can be deleted."""
