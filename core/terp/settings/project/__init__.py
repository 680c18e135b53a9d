"""A project: its folders, its files that configure terp, and trust in them."""
