"""A project: its folders, its files that configure terp, and trust in them.

A survey lists, without running anything, the project's files that configure terp, and makes one digest of
them. A decision of the user is about that digest: one changed byte asks again.
"""
