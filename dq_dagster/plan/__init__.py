"""Check requests and plans: which metrics answer the rules, in which passes."""
