"""`terp serve`: sessions over HTTP and WebSocket. A front end like the prompt: same session, same events.

    serving.py      one server process; `application(…)` builds the FastAPI application
    access.py       checks `Host`, `Origin` and the token around every route, WebSockets too
    sessions.py     the sessions of the server, each with its queue and its subscribers
    native/         the routes of terp's own interface
    openai/         OpenAI's interface
    compat/         Open Interpreter's protocol; interpreter/ is its Python interface
    page/           the web page

Only `terp serve` imports FastAPI.
"""
