"""Sessions on disk: a folder each, with a log that only grows and survives the process at any byte.

`keeping` writes it beside a running session, `reading` makes a conversation of it again, `catalogue`
finds, lists and removes sessions. `forms` tells what a line of the log is.
"""
