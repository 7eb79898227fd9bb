"""A module that cannot be imported."""

raise RuntimeError("no such service, password=hunter2")
