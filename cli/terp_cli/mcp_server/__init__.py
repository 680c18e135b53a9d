"""`terp mcp-server`: a live kernel for other agents, over the Model Context Protocol.

The client stands in the place of the session's model (`client_model`), and its user in that of the person
(`client_person`): each call of the tool `execute` is one turn of an ordinary session.
"""
