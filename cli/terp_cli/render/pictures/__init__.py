"""Pictures in the terminal.

    draw = drawer_on(out, settings.images, os.environ, facts)    # None where no picture can be
    rows = draw(display.data)                                    # rows of text, or a `Graphic`

How a picture is drawn: as the setting says, else as the environment tells, else as the terminal
answered (`terp_cli.terminal.terminal_query`). Pillow is imported when a picture needs it, and not before.
"""
