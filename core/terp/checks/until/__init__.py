"""A turn that goes on until a check has passed: `loop.ask` is the way in."""
