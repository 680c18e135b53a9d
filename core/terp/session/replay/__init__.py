"""The code of a stored session, run again and compared."""
