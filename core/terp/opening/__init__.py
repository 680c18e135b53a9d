"""From settings to a session: the one place that puts its parts together."""
