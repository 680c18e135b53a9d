"""Tokens and money that model calls have used, and the limits on them.

Replies and all other requests pass one budget: it checks before a request and adds up after it. The tally is
derived from the log; the ledger has a line for each request of all sessions, in one file a month.
"""
