"""The past that rules are judged by."""
