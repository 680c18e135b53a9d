"""A problem, and a program that solves it: written by a model, and checked by tests of known origin."""
