"""The user's rules: which code runs without asking, which asks first, and which never runs.

A pattern must surely match to allow code, and only possibly match to ask or deny. The strictest rule counts.
"""
