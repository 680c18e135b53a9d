"""Keys of providers, and redaction of secrets in texts."""
