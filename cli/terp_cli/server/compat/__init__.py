"""Open Interpreter's wire protocol, as clients of its version 0.4.3 use it, over a session of terp.

    entrance.py      the check of the protocol's own key
    frames.py        from events and outputs to frames
    accumulating.py  from frames to messages
    model_input.py   from messages to the history and prompt of the model
    feed.py          the frames that clients get, and the position of each client
    conversation.py  the one conversation of all clients: messages, commands, answers
    opening.py       the session behind it, and the client that approves code with `go`
    client_settings.py  the settings that clients may read and change, and the `INTERPRETER_…` variables
    socket.py        the WebSocket at `/`; routes.py the rest over HTTP
    compat.py        the parts put together for `terp serve`

A front end like any other: prompts, output and approvals are the session's.
"""
