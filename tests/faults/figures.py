"""What was measured, to be shown at the end of a run."""

from collections.abc import Callable

NAME = "figure"
Figure = Callable[[str], None]
