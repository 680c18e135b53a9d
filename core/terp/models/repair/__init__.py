"""Replies that break the format of tool calls, read all the same."""
