"""What confines the code: what it may do, and the ways of this machine to hold it to that."""
