"""The Spark core: states as SQL, passes, isolation. Classic Spark and Spark Connect alike."""
