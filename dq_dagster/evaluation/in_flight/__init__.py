"""Rules on rows that are on their way: judged while they are written, before they are published."""
