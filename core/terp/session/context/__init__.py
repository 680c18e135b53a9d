"""The messages of a conversation, kept within the model's context window.

`tokens` counts a history as it grows and corrects itself by the counts of the provider; `shortening` finds
when a request is too near to the limit; `compaction` divides the history and `summary` writes what stands for
the part left out. A compaction is one line of the log and can be undone. System prompt and earlier messages
keep their bytes from request to request, so that providers can cache them.
"""
