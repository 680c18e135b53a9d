"""The terminal as a device: size, colours, modes, rows, the one painter, the sanitiser."""
