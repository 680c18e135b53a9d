"""What can run on this machine: one row for each language, and how its kernel is made."""
