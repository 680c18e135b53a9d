"""A full disk, a home that cannot be written or is not known, and words in any encoding."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.running import TIMEOUT_S, Terp, to, without_tier
from tests.faults.disks import Disk
from tests.loopback import Call, Loopback, Scripted

SCRIPT: list[Scripted] = [Call(code="print(6 * 7)"), "It is 42."]


@pytest.mark.parametrize("after", [0, 700])
def test_a_disk_that_is_full_costs_the_memory_of_a_session_and_not_its_answer(
    terp: Terp, disk: Disk, after: int
) -> None:
    result = terp.asked(SCRIPT, "-y", "go", **disk.full(terp.home, after))
    assert (result.code, result.out) == (0, "It is 42.\n")
    told = [line for line in result.notes.splitlines() if line.endswith("It continues in memory.")]
    assert ["No space left on device" in line for line in told] == [True], result.notes


def test_a_home_that_cannot_be_written_costs_the_memory_of_a_session_and_not_its_answer(
    terp: Terp, disk: Disk
) -> None:
    result = terp.asked(SCRIPT, "-y", "go", **disk.read_only(terp.home))
    assert (result.code, result.out) == (0, "It is 42.\n")
    assert "Read-only file system" in result.notes
    assert "Traceback" not in result.notes


def test_a_machine_that_cannot_be_written_anywhere_is_a_line(terp: Terp, disk: Disk) -> None:
    result = terp.asked(SCRIPT, "-y", "go", **disk.read_only(Path("/")))
    why = f"{terp.home}/sessions cannot be made (Read-only file system), and no temporary one either."
    remedy = "Make room, or set TMPDIR to a folder that can be written."
    assert (result.code, result.out, result.notes) == (1, "", f"terp: {why} {remedy}\n")


def test_a_machine_without_room_anywhere_is_a_line(terp: Terp, disk: Disk) -> None:
    result = terp.asked(SCRIPT, "-y", "go", **disk.full(Path("/")))
    last = result.notes.splitlines()[-1]
    assert (result.code, last.partition(": No usable")[0]) == (
        1,
        "terp: There is no folder for the sockets of a kernel",
    )


def test_a_machine_that_tells_no_home_is_enough(terp: Terp, tmp_path: Path) -> None:
    for name in ("HOME", "TERP_HOME"):
        del terp.environ[name]
    places = {f"XDG_{what}_HOME": str(tmp_path / what) for what in ("CONFIG", "STATE", "DATA", "CACHE")}
    result = terp.asked(SCRIPT, "-y", "go", **places)
    assert (result.code, result.out) == (0, "It is 42.\n")


LOCALES: list[Mapping[str, str]] = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "de_DE.ISO-8859-1"},
    {"PYTHONIOENCODING": "ascii"},
]


@pytest.mark.parametrize("locale", LOCALES, ids=lambda locale: " ".join(map("=".join, locale.items())))
def test_no_locale_makes_an_error_of_a_letter(terp: Terp, locale: Mapping[str, str]) -> None:
    script: list[Scripted] = [Call(code="print('ü €')"), "Größe 🎉"]
    result = terp.asked(script, "-y", "Größe?", **locale)
    assert result.code == 0, result.notes
    assert result.requests[1]["messages"][-1]["content"] == "ü €"
    assert result.out.startswith("Gr")
    assert "Unicode" not in without_tier(result.notes)


def test_a_profile_that_is_damaged_names_its_file_and_line(terp: Terp) -> None:
    (terp.home / "config.yaml").write_bytes(b"model: openai/m\ntemperature: \xff\xfe\n")
    result = terp("hi")
    assert (result.code, result.notes.count("\n")) == (2, 1)
    assert "config.yaml" in result.notes


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 1), ("<&- >&- 2>&-", 1)])
def test_streams_that_are_closed_end_in_no_traceback(terp: Terp, closed: str, code: int) -> None:
    result = closing(terp, closed)
    assert (result, "Traceback" in (terp.cwd / "notes").read_text()) == (code, False)


def closing(terp: Terp, closed: str) -> int:
    with Loopback(["hello"]) as server, (terp.cwd / "notes").open("w") as notes:
        command = [
            "sh",
            "-c",
            f'exec "$@" {closed}',
            "sh",
            sys.executable,
            "-m",
            "terp_cli",
            *to(server),
            "hi",
        ]
        nowhere = subprocess.DEVNULL
        ended = subprocess.run(
            command,
            cwd=terp.cwd,
            env=terp.environ,
            stdin=nowhere,
            stdout=nowhere,
            stderr=notes,
            timeout=TIMEOUT_S,
            check=False,
        )
    return ended.returncode
