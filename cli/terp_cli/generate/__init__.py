"""Files that are generated from tables."""
