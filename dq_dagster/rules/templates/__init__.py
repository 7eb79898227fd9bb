"""Templates: SQL with typed parameters that yields one number, and what that number must be."""
