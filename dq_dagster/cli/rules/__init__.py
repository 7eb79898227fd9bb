"""Commands about rules themselves: which there are, where they come from, what changes in them."""
