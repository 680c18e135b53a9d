"""The messages of a conversation, kept within the model's context window.

`request` makes the next request of a history and estimates its tokens, corrected by the counts of the
provider. `compaction` finds when a request is too near to the limit and divides the history; `summary` writes
the message that replaces the part left out. A compaction is one line of the log and can be undone. System
prompt and earlier messages keep their bytes from request to request, so that providers can cache them.
"""
