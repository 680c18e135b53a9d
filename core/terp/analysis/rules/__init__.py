"""Rules of the person's: which code runs without asking, which is asked about, and which never runs."""
