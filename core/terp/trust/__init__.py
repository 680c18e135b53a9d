"""Trust in a project: what of its files speaks to terp, and what the person decided about just these."""
