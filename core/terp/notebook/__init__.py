"""The extension of IPython that `%load_ext terp` loads: terp in the kernel of a notebook.

It runs in the user's kernel with the standard library and IPython only. Session, model calls and keys are in
a process beside it (`terp_cli.notebook`), of which it is a client: it runs code, shows what that process
sends, and asks the user.
"""
