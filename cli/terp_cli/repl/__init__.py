"""The conversation at a terminal.

`first_prompt` paints the prompt from the settings before the session is imported and opened in a thread;
input is queued until then. It imports neither the session nor the model nor the store.
"""
