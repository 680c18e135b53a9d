"""The native interface, below `/v1`: one router for each kind of thing that is asked for."""
