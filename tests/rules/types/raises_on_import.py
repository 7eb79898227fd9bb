"""A module that can not be imported."""

raise RuntimeError("no such service, password=hunter2")
