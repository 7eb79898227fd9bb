"""What the values of a column mean to people, and which values are valid for a meaning."""
