"""OpenAI's interface over sessions: a client of a model can use terp instead.

forms.py      the bodies
requests.py   reads a request
threads.py    finds the session of a conversation; or one conversation of all clients (Open Interpreter)
answering.py  one answer: from the events of a turn to its pieces, with questions and their answers
markdown.py   events as text
replies.py    an answer on the wire
responses.py  the same in the form of OpenAI's Responses
routes.py     `router(sessions, …)`, for `include_router`
"""
