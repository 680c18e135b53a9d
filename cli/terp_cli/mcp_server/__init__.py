"""`terp mcp-server`: a live kernel for other agents, over the Model Context Protocol.

The client stands in the place of the session's model (`ClientModel`), and its user in that of the person
(`ClientPerson`): each call of the tool `execute` is one turn of an ordinary session.
"""
