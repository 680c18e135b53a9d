"""Libraries that show widgets, made to show text instead: nothing here follows widgets."""

from __future__ import annotations

import sys
from typing import Any


def draw_bars_as_text(module: Any) -> None:
    """Have `tqdm.notebook`, and so `tqdm.auto`, draw bars of text."""

    class Bar(module.std_tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, display: bool = True, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    module.tqdm = module.tqdm_notebook = Bar
    module.trange = module.tnrange = lambda *args, **kwargs: Bar(range(*args), **kwargs)
    # What is missing is not needed: without it `tqdm.autonotebook` would warn.
    module.IProgress = module.IProgress or object


def show_at_once(shell: Any, module: Any) -> None:
    """Have the run show what goes into an `Output`, and nothing in it clear or fail the run."""
    widget, publisher = module.Output, shell.display_pub
    enter, leave, clear = widget.__enter__, widget.__exit__, publisher.clear_output
    entered: list[Any] = []

    def entering(self: Any) -> Any:
        entered.append(self)
        return enter(self)

    def leaving(self: Any, kind: Any, error: Any, trace: Any) -> Any:
        entered.remove(self)
        if not isinstance(error, Exception):
            # An interrupt, which the widget would swallow, ends the run.
            leave(self, None, None, None)
            return None
        told = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=1)
        sys.stderr.write(shell.InteractiveTB.stb2text(told) + "\n")
        return leave(self, None, None, None) or True

    def clear_output(*args: Any, **kwargs: Any) -> None:
        if not entered:
            clear(*args, **kwargs)

    widget.__enter__, widget.__exit__, publisher.clear_output = entering, leaving, clear_output
