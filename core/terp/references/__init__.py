"""References in an answer, `{{total:.2f}}`, for which the value of a variable is put in."""
