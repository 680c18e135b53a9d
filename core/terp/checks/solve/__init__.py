"""A problem, and a program that solves it: written by a model, and checked by tests of known origin.

Phases are plain functions over a session and a checker; each takes a state and returns the next. The state is
stored after each phase.
"""
