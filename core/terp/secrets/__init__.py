"""Keys, and keeping them out of every text."""
