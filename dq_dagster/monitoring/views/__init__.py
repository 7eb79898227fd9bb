"""What people look at, as frozen values: one question of a page a function."""
