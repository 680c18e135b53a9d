"""Sessions on disk: a folder each, with a log that only grows and survives the process at any byte.

`keeping` writes the log of a running session, `reading` restores a conversation from it, `catalogue`
finds, lists and removes sessions. `forms` defines the lines of the log.
"""
