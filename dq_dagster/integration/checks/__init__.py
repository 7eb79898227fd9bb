"""Asset checks: their specs, and the step that answers them."""
