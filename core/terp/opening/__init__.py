"""Functions that build a session from settings.

`session.build_session` builds model, kernels and keeper, and the session from them; nothing else does.
"""
