"""The text of an answer: links to files, references to values.

A value is looked up and written in the kernel by exact class: no method of a user's class is called.
"""
