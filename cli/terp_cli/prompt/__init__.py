"""The line that a user types on: editing, completion, history, questions."""
