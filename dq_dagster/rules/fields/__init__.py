"""The types of rule fields: what people may write, and what it means."""
