"""The native interface: routes, and the bodies of requests and answers."""
