"""Ways to show a session: one module each."""
