"""Work that checks itself: turns until a check passes, and problems with tests."""
