"""Setting before environment before answers."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from terp_cli.render.pictures.drawer import PictureChoice, Tmux, ask_tmux, choose
from terp_cli.terminal.terminal_facts import TerminalFacts

XTERM = {"TERM": "xterm-256color"}
IN_TMUX = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux,1,0", "KITTY_WINDOW_ID": "1"}
SIXEL = TerminalFacts(sixel=True, cell_width=8, cell_height=16)
NO_CELL = TerminalFacts(sixel=True)
CELL = TerminalFacts(cell_width=8, cell_height=16)


def chosen(
    wanted: str,
    environ: dict[str, str],
    facts: TerminalFacts = CELL,
    tmux: Callable[[], Tmux] = Tmux,
    *,
    colours: bool = True,
) -> PictureChoice:
    return choose(wanted, environ, facts, tmux, colours=colours)


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-kitty", "TERM_PROGRAM": "iTerm.app"}, "kitty"),
        ({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({**XTERM, "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({**XTERM, "KITTY_WINDOW_ID": "1", "TERM_PROGRAM": "vscode"}, "blocks"),
        ({**XTERM, "KITTY_WINDOW_ID": "1", "XTERM_VERSION": "XTerm(390)"}, "blocks"),
        ({**XTERM, "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({**XTERM, "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({**XTERM, "LC_TERMINAL": "iTerm2", "SSH_CONNECTION": "1"}, "iterm"),
        ({**XTERM, "KONSOLE_VERSION": "220401"}, "kitty"),
        ({**XTERM, "KONSOLE_VERSION": "201201"}, "blocks"),
        ({**XTERM, "KONSOLE_VERSION": "²"}, "blocks"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "foot-extra"}, "sixel"),
        ({"TERM": "footing"}, "blocks"),
        (XTERM, "blocks"),
    ],
)
def test_the_environment_tells(environ: dict[str, str], way: str) -> None:
    assert chosen("auto", environ) == PictureChoice(way)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "way"),
    [
        (TerminalFacts(kitty=True, sixel=True), "kitty"),
        (SIXEL, "sixel"),
        (NO_CELL, "blocks"),
        (TerminalFacts(), "blocks"),
    ],
)
def test_the_terminal_tells_where_the_environment_does_not(facts: TerminalFacts, way: str) -> None:
    assert chosen("auto", XTERM, facts) == PictureChoice(way)  # type: ignore[arg-type]


def test_the_environment_comes_before_the_answers() -> None:
    assert chosen("auto", {"TERM": "xterm-kitty"}, SIXEL) == PictureChoice("kitty")


@pytest.mark.parametrize("way", ["off", "kitty", "iterm", "sixel", "blocks"])
def test_the_setting_comes_first(way: str) -> None:
    assert chosen(way, {**XTERM, "TERM_PROGRAM": "iTerm.app"}, SIXEL) == PictureChoice(way)  # type: ignore[arg-type]


def test_sixel_that_cannot_be_had_says_why() -> None:
    assert chosen("sixel", XTERM, TerminalFacts()) == PictureChoice(
        "blocks", "The terminal does not report its cells' size, which sixel needs."
    )


def test_without_colours_there_is_no_picture_of_characters() -> None:
    assert chosen("auto", XTERM, colours=False) == PictureChoice("off")
    assert chosen("blocks", XTERM, colours=False) == PictureChoice("blocks")


@pytest.mark.parametrize(
    ("tmux", "way"),
    [
        (Tmux(passes=True, places=True), "kitty in tmux"),
        (Tmux(passes=False, places=True), "blocks"),
        (Tmux(passes=True, places=False), "blocks"),
    ],
)
def test_tmux_is_asked_what_it_passes_on(tmux: Tmux, way: str) -> None:
    assert chosen("auto", IN_TMUX, tmux=lambda: tmux) == PictureChoice(way)  # type: ignore[arg-type]


def test_a_multiplexer_with_sixel_draws_itself() -> None:
    assert chosen("auto", IN_TMUX, SIXEL) == PictureChoice("sixel")


@pytest.mark.parametrize("environ", [{"TERM": "screen", "STY": "1"}, {**XTERM, "ZELLIJ": "0"}])
def test_other_multiplexers_get_characters(environ: dict[str, str]) -> None:
    assert chosen("auto", {**environ, "TERM_PROGRAM": "iTerm.app"}) == PictureChoice("blocks")


def test_what_tmux_does_not_allow_is_said() -> None:
    assert chosen("kitty", IN_TMUX) == PictureChoice(
        "blocks", "tmux does not pass pictures on; its option allow-passthrough is off."
    )
    assert chosen("iterm", IN_TMUX) == PictureChoice(
        "blocks", "A picture for iterm cannot be placed within tmux, screen or zellij."
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("echo '1 xterm-kitty kitty(0.40.0)'", Tmux(passes=True, places=True)),
        ("echo 'all xterm-ghostty'", Tmux(passes=True, places=True)),
        ("echo '0 xterm-256color'", Tmux(passes=False, places=False)),
        ("exit 1", Tmux()),
        ("sleep 5", Tmux()),
    ],
)
def test_tmux_is_understood(tmp_path: Path, said: str, expected: Tmux) -> None:
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\n{said}\n")
    program.chmod(0o755)
    assert ask_tmux({"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}) == expected


def test_a_machine_without_tmux_passes_nothing(tmp_path: Path) -> None:
    assert ask_tmux({"PATH": str(tmp_path)}) == Tmux()
