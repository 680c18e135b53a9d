"""From settings to a session: the one place that puts its parts together.

`session.build_session` takes settings and returns a session: model, kernels, keeper, limits.
"""
