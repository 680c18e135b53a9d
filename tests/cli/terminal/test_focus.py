import asyncio

from prompt_toolkit import PromptSession
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from terp_cli.terminal.keys import FocusInput


def test_what_the_terminal_tells_of_its_focus_is_no_key() -> None:
    told: list[bool] = []
    with create_pipe_input() as keys:
        source = FocusInput(keys, told.append)
        keys.send_text("I \x1b[Oam\x1b[I\x1b[O here[I\r")
        session: PromptSession[str] = PromptSession(input=source, output=DummyOutput())
        line = asyncio.run(session.prompt_async())
    assert (line, told) == ("I am here[I", [False, True, False])


def test_it_is_understood_when_it_comes_in_pieces() -> None:
    told: list[bool] = []
    with create_pipe_input() as keys:
        source = FocusInput(keys, told.append)
        pressed = []
        for piece in ("a\x1b", "[", "Ib"):
            keys.send_text(piece)
            pressed += [key.data for key in source.read_keys()]
    assert (pressed, told) == (["a", "b"], [True])


def test_escape_by_itself_stays_a_key() -> None:
    with create_pipe_input() as keys:
        source = FocusInput(keys, lambda _: None)
        keys.send_text("\x1b")
        pressed = [key.data for key in [*source.read_keys(), *source.flush_keys()]]
    assert pressed == ["\x1b"]
