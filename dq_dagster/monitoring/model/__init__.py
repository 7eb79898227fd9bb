"""What statuses, days and scores are made of: plain values in, plain values out."""
