"""The languages of this machine: one row for each, with the function that makes its kernel."""
