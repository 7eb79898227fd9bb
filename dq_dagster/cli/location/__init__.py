"""Commands about a code location: its rules, its assets, and runs of its checks."""
