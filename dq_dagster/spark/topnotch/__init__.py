"""What the commands of TopNotch plans come to in Spark."""
