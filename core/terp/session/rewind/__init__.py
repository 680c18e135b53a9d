"""Undoing turns with what their code did, and resuming a stored session."""
