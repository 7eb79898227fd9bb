"""Commands about what became of checks: pages and reports."""
