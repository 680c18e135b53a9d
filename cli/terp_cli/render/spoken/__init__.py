"""A turn as lines to be read aloud."""
