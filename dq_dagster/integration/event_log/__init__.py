"""What the event log keeps of outcomes: written and read here only."""
