"""The text of an answer: links to files, references to values.

The kernel writes a value by its exact class: no method of a user's class is called.
"""
