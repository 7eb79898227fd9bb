"""The Spark session to work with: Java, classic or Connect, ANSI."""
