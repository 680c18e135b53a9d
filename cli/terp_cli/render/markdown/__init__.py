"""Markdown as rows, while it streams."""
