"""The passes of a plan: each metric gets its states, or the reason why it has none."""
