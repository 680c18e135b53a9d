"""From settings to a session.

`session.build_session` builds model, kernels and keeper, and the session from them; nothing else does.
"""
