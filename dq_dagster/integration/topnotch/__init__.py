"""Plans of TopNotch as assets and checks."""
