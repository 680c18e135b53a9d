"""Open Interpreter's wire protocol, as clients of its version 0.4.3 speak it, over a session of terp's own.

    variables.py     what `INTERPRETER_…` variables say
    entrance.py      who may call, by the protocol's own key
    frames.py        from events to frames; outputs.py for what code puts out
    accumulating.py  from frames to messages; past.py from messages to what the model is told
    feed.py          the frames that clients get, from where each of them is
    conversation.py  the one conversation of all clients: messages, commands, answers
    person.py        who approves: the client that says `go`
    wanted.py        the settings that clients may read and change
    socket.py        the WebSocket at `/`; routes.py the rest over HTTP

A front end like any other: what is asked, shown and approved is the session's.
"""
