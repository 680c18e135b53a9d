"""The text of an answer: links to files, references to values."""
