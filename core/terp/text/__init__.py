"""Strings, paths and small files, of no domain."""
