"""Properties of events."""

import typing

from terp.events import KernelChanged, KernelState


def test_variables_end_where_their_kernel_ends_or_another_takes_its_place() -> None:
    ending = {
        state for state in typing.get_args(KernelState) if KernelChanged("python", state).ends_variables
    }
    assert ending == {"died", "restarted", "stopped", "left"}
