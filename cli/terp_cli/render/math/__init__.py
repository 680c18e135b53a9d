"""LaTeX formulas as text."""
