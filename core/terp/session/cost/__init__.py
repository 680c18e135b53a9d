"""Tokens and money that model calls have used, and the limits on them."""
