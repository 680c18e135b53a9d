"""Code that is read and never run: its effects, the rules on it, and the slice that made a value."""
