"""The program and its sandbox, from the command line to what the model is told."""

import base64
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Terp, said, to
from tests.cli.teletype import Teletype
from tests.loopback import Call, Loopback
from tests.sandbox.held import TIERS, tier_named

# A picture of one point.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

works = pytest.mark.skipif(not any(tier_named(name)[0] for name in TIERS), reason="no sandbox works here")


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is not below /tmp, which a sandbox may have for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@works
def test_what_was_blocked_is_told_to_person_and_model(terp: Terp, outside: Path) -> None:
    code = f"open('{outside}/x', 'w')"
    result = terp.asked([Call(code=code), "It cannot be written."], "-y", "--sandbox", "workspace", "go")
    told = f"The user can allow it for this session with /allow {outside}"
    assert told in said(result.requests[1])[-1][1]
    assert told in result.notes
    assert list(outside.iterdir()) == []


def test_limits_hold_with_the_sandbox_off(terp: Terp) -> None:
    code = """
import resource
for kind in resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE:
    print(resource.getrlimit(kind)[0])
try:
    open("big", "wb").write(bytes(3_000_000))
except OSError as error:
    print(error.strerror)
"""
    limits = {"TERP_MEMORY_LIMIT_MB": "4000", "TERP_MAX_PROCESSES": "4001", "TERP_MAX_FILE_MB": "2"}
    result = terp.asked([Call(code=code), "Done."], "-y", "--sandbox", "off", "go", **limits)
    lines = said(result.requests[1])[-1][1].splitlines()
    assert lines[:4] == [str(4000 << 20), "4001", str(2 << 20), "File too large"]


@works
def test_what_is_left_among_temporary_files_is_told_to_person_and_model(terp: Terp) -> None:
    code = "import os; print('1', file=open(os.environ['TMPDIR'] + '/out.csv', 'w'), flush=True)"
    result = terp.asked([Call(code=code), "It is in /tmp/out.csv."], "-y", "go")
    told = f"lost when terp ends: out.csv. Write files to keep below {terp.cwd}."
    assert told in said(result.requests[1])[-1][1]
    assert told in result.notes
    assert "[created]" not in result.notes


@works
def test_code_that_runs_unasked_is_confined_and_the_model_knows(terp: Terp) -> None:
    result = terp.asked([Call(code="print(1)"), "Done."], "-y", "--output-format", "stream-json", "go")
    events = [json.loads(line) for line in result.out.splitlines()]
    [proposed] = [event for event in events if event["event"] == "code_proposed"]
    assert proposed["tier"] in TIERS
    notes = terp.asked([Call(code="print(1)"), "Done."], "-y", "go").notes
    assert f"[sandbox] {proposed['tier']}\n" in notes
    assert "Code is confined" in said(result.requests[0])[0][1]


@works
def test_without_the_network_no_tool_goes_around(terp: Terp) -> None:
    code = "fetch_url('http://127.0.0.1:1/')"
    result = terp.asked([Call(code=code), "No."], "-y", "--no-net", "go")
    assert "The network is closed to code here" in said(result.requests[1])[-1][1]
    assert "fetch_url" not in said(result.requests[0])[0][1]


def test_a_sandbox_that_is_required_and_not_there_ends_the_call(terp: Terp, tmp_path: Path) -> None:
    result = terp.asked(["never"], "-y", "--sandbox", "docker", "go", PATH=str(tmp_path))
    assert (result.code, result.requests) == (3, [])
    assert "no Docker daemon answers. Start Docker, or take another sandbox" in result.notes


@works
def test_terp_run_is_confined_where_that_is_asked_for(terp: Terp, outside: Path) -> None:
    (terp.cwd / "x.py").write_text(f"open({str(outside / 'x')!r}, 'w')")
    result = terp("run", "--sandbox", "workspace", "x.py")
    assert (result.code, (outside / "x").exists()) == (1, False)


@works
def test_piped_data_reaches_code_that_is_confined(terp: Terp) -> None:
    code = "print(open(stdin_path).read())"
    result = terp.asked([Call(code=code), "Done."], "-y", "go", data="a,b\n")
    assert "a,b" in said(result.requests[1])[-1][1]


@works
def test_code_is_confined_as_said_where_auto_run_comes_on_while_a_kernel_starts(
    terp: Terp, outside: Path
) -> None:
    code = f"open('{outside}/x', 'w').write('escaped')"
    with Loopback([[Call(code=code)], "Tried."]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as terminal:
            terminal.until("No sandbox.")
            terminal.types("/auto_run on")
            terminal.until("starting")
            terminal.types("\r")
            terminal.until("Sandbox: ")
            terminal.types("go\r")
            terminal.until("Tried.")
    assert list(outside.iterdir()) == []


@works
def test_code_can_read_what_earlier_runs_put_out_and_every_path_that_the_model_is_told(terp: Terp) -> None:
    long = Call(code="print('x' * 50_000)")
    picture = Call(
        code="from IPython.display import Image, display\n"
        "import base64\n"
        f"display(Image(base64.b64decode('{DOT}')))"
    )
    read = Call(
        code="print(len(out[1].text), out[1])\n"
        "print(open(out[1].path).read(3), [len(open(path, 'rb').read()) for path in out[2].images])"
    )
    result = terp.asked([[long], [picture], [read], "Done."], "-y", "go")
    told = said(result.requests[3])[-1][1]
    assert "50001 <output of run 1: 50,001 bytes, python ok" in told
    assert f"xxx [{len(base64.b64decode(DOT))}]" in told
