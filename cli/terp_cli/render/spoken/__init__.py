"""A turn as lines for a screen reader."""
