"""`--emit` on a terminal: text that it does not obey, and no bytes that are none."""

import pytest

from terp.errors import TerpError
from terp.session.emitting import Emission
from terp_cli.fronts.oneshot import on_terminal


def test_a_terminal_gets_no_escape_of_a_variable() -> None:
    assert on_terminal(Emission("rows"), "Zoë,\x1b[2J1\x07\n".encode()) == "Zoë,1^G\n"


@pytest.mark.parametrize("written", [b"\x89PNG\r\n", b"PAR1\0"])
def test_what_is_no_text_is_not_for_a_terminal(written: bytes) -> None:
    with pytest.raises(TerpError, match="--emit: 'figure' is no text, and stdout is a terminal"):
        on_terminal(Emission("figure"), written)
