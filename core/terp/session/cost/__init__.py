"""Tokens and money that model calls have used, and the limits on them.

One budget checks every request before it is sent, and adds up its cost afterwards. The tally is
derived from the log; the ledger has a line for each request of all sessions, in one file a month.
"""
