"""Which of the cells that ran have made a value: the names that each makes, uses and changes."""
