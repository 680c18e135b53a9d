"""Effects of code, read before it runs: the account informs the user and never decides."""
