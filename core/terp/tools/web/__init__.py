"""Fetching pages of the web and searching it."""
