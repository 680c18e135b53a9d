"""Outputs of a run as rows."""
