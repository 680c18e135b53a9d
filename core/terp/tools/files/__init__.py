"""Tool files of the user: what they declare, read without running them."""
