"""The messages of a conversation, kept within the model's context window."""
