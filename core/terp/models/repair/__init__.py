"""Repair of replies that break the format of tool calls."""
