"""What code put out then and now: told to be the same, or what differs."""
