"""Packages that code imports: which are missing, how they are called, how they get there."""
