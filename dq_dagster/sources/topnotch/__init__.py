"""Plans of TopNotch, read from their files."""
