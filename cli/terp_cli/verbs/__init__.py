"""The subcommands of `terp`: one module each."""
