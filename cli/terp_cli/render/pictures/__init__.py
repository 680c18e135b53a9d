"""Pictures in the terminal.

    draw = drawer_on(out, settings.images, os.environ, facts)    # None where no picture can be
    rows = draw(display.data)                                    # rows of text, or a `Graphic`

The protocol comes from the setting, else from the environment, else from the terminal's answers
(`terp_cli.terminal.terminal_facts`). Pillow is imported when a picture needs it, and not before.
"""
