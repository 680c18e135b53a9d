"""The slice of a session that made a value: which cells define, use and change each name.

A name of which the use is not known counts as changed: a slice may be too long, never too short.
"""
