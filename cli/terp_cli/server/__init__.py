"""`terp serve`: sessions behind HTTP and WebSocket. A front end like the prompt: same session, same events.

    serving.py      a process: settings, token, socket, signals
    application.py  the parts put together: `application(…)` is a FastAPI to which others add routers
    access.py       who may call: one layer around every route, WebSockets too
    sessions.py     which sessions are open; served.py is one of them, with its queue and its watchers
    routes/         one file for each kind of thing that is asked for

What needs FastAPI is imported by `terp serve` alone.
"""
