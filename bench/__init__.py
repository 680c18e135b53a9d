"""How terp compares on this machine, in one run: `python -m bench`; one alone: `python -m bench.start`."""
