"""One session in many languages, with what runs them for real."""

from pathlib import Path

import pytest

from terp.errors import UnknownLanguage
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect
from tests.core.sessions import results

STEPS = {
    "python": ("kept = 'py'", "print(kept)", "py"),
    "shell": ("kept=sh", "echo $kept", "sh"),
    "typescript": ("const kept: string = 'ts'", "console.log(kept)", "ts"),
    "r": ("kept <- 'r'", "cat(kept)", "r"),
    "ruby": ("kept = 'rb'", "puts kept", "rb"),
    "perl": ("our $kept = 'pl';", "print $kept;", "pl"),
    "php": ("$kept = 'php';", "echo $kept;", "php"),
    "lua": ("kept = 'lua'", "print(kept)", "lua"),
}


async def test_a_session_keeps_the_state_of_every_language_of_it(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    here = [name for name in STEPS if name in kernels.languages]
    calls = [call(STEPS[name][at], name) for at in (0, 1) for name in here]
    session = Session(ScriptedModel(*([one] for one in calls)), kernels, AutoRun(), folder=tmp_path / "s")
    await collect(session, "go")
    await session.aclose()
    told = [result.strip() for result in results(session)[len(here) :]]
    assert [text.splitlines()[0] for text in told] == [STEPS[name][2] for name in here]


async def test_an_unknown_language_is_answered_with_those_there_are(tmp_path: Path) -> None:
    session = Session(
        ScriptedModel([call("1", "cobol")]), LocalKernels(str(tmp_path)), AutoRun(), folder=tmp_path / "s"
    )
    await collect(session, "go")
    await session.aclose()
    assert "python, shell" in results(session)[0]


def test_a_name_that_nothing_runs_is_refused_with_the_list(tmp_path: Path) -> None:
    with pytest.raises(UnknownLanguage, match=r"No kernel here runs 'cobol'\. There is: python, shell"):
        LocalKernels(str(tmp_path)).get("cobol")
