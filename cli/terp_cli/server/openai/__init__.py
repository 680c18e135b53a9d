"""OpenAI's interface over sessions: who can talk to a model there can talk to terp.

forms.py      the bodies
said.py       what a request says
threads.py    which session its conversation goes on in
answering.py  one answer, from the events of a turn to its pieces
markdown.py   events as text; exchange.py has questions, and answers to them
replies.py    an answer on the wire
responses.py  the same as OpenAI's Responses have it
stateful.py   one conversation for all, as Open Interpreter has it
routes.py     `router(sessions, …)`, for `include_router`
"""
