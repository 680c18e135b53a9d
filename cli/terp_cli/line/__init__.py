"""The command line: flags, help, exit codes, stdin and the standard streams."""
