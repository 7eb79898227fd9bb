"""What is kept of partitions, so that they need not be read again."""
