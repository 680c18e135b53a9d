"""Who has the terminal: the guard of its modes and the window's focus depend on it."""


class Hold:
    """Hears what becomes of the terminal; by itself it does nothing with that."""

    def taken(self) -> None:
        """Keys are read (again)."""

    def given(self) -> None:
        """The shell or another program has the terminal now."""

    def kept(self) -> None:
        """No keys are read, but the terminal is still in other modes than before."""

    def focused(self, has_focus: bool) -> None:
        """The window got or lost the focus."""
