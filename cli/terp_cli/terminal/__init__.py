"""The terminal as a device: size, colours, modes, rows, the one painter, the sanitiser.

Only the painter writes. Finished rows are appended and never changed; below them stand the live rows: the
tail of what is growing, and the bottom, which prompt_toolkit lays out.
"""
