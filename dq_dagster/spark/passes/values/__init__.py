"""What depends on all values of a column: how often each occurs, and which is in the middle."""
