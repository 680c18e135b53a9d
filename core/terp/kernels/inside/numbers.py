"""The numbers of cells: a session counts its runs through restarts and over all its languages."""

from __future__ import annotations

from typing import Any

from .home import Home

# A request says in its metadata which run of the session it is.
NUMBER = "terp_run"


def count_with_session(home: Home) -> None:
    """Let `In [N]` and "Cell In[N]" in tracebacks be the number by which the session knows the run."""
    kernel, shell = home.kernel, home.shell
    publish = kernel._publish_execute_input

    def numbered(code: Any, parent: Any, count: int) -> None:
        wanted = (parent.get("metadata") or {}).get(NUMBER)
        if type(wanted) is int and wanted > count:
            shell.execution_count = count = wanted
            for past in (shell.history_manager.input_hist_parsed, shell.history_manager.input_hist_raw):
                # Inputs are found by their place.
                past.extend([""] * (wanted - len(past)))
        home.number = count
        publish(code, parent, count)

    kernel._publish_execute_input = numbered
