"""`--gateway`: the program here, its code behind a Jupyter Server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Result, Terp, said
from tests.core.kernels.remote.servers import TOKEN, Server, jupyter_server
from tests.loopback import Call, Scripted


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter_server(tmp_path_factory.mktemp("server") / "root") as server:
        yield server


@pytest.fixture
def terp(tmp_path: Path, server: Server) -> Terp:
    terp = Terp(tmp_path)
    terp.environ.update({"TERP_GATEWAY_URL": server.url, "JUPYTER_TOKEN": TOKEN})
    return terp


def test_files_go_there_and_come_back(terp: Terp, server: Server, tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("a\n1\n2\n")
    code = "n = open('sum.txt', 'w').write(str(sum(map(int, open('numbers.csv').read().split()[1:]))))"
    result = terp.asked(
        [[Call(code=code)], "It is 3."], "-y", "-f", str(tmp_path / "numbers.csv"), "--out", "here", "add"
    )
    assert (result.code, result.out) == (0, "It is 3.\n")
    prompt = said(result.requests[0])[-1][1]
    assert "[note: Attachment: numbers.csv] It is in the kernel's working directory: " in prompt
    assert f"[python, in python3 at {server.gateway.host}]" in result.notes
    assert [path.read_text() for path in (terp.cwd / "here").glob("*sum.txt")] == ["3"]
    assert not (terp.cwd / "numbers.csv").exists()


def test_piped_data_is_there_and_does_not_stay(terp: Terp, server: Server) -> None:
    script: list[Scripted] = [[Call(code="print(len(stdin_data))")], "Four."]
    result = terp.asked(script, "-y", "count", data="abcd")
    assert said(result.requests[1])[-1][1].startswith("4")
    assert list(server.root.glob("stdin*")) == []


def test_a_session_goes_on_in_the_kernel_that_was_kept(terp: Terp) -> None:
    terp.asked([[Call(code="kept = 42")], "Noted."], "-y", "--gateway-keep", "note")
    script: list[Scripted] = [[Call(code="print(kept)")], "It is 42."]
    result = terp.asked(script, "-y", "-c", "what was it?")
    assert said(result.requests[1])[-1] == ("tool", "42")
    assert "gone" not in str(result.requests[0]["messages"])
    assert "gone" not in result.notes


def test_a_session_whose_kernel_was_ended_says_what_is_gone(terp: Terp) -> None:
    terp.asked([[Call(code="lost = 42")], "Noted."], "-y", "note")
    result = terp.asked(["Hello."], "-y", "-c", "hello")
    assert "these variables are gone: lost" in str(result.requests[0]["messages"])


def test_the_token_is_in_nothing_that_is_kept(terp: Terp) -> None:
    terp.asked([[Call(code=f"print('{TOKEN}')")], f"It is {TOKEN}."], "-y", "tell")
    logs = [path for path in terp.home.rglob("events.jsonl") if "[redacted]" in path.read_text()]
    assert len(logs) == 1
    assert TOKEN not in logs[0].read_text()


def test_a_file_of_code_runs_there(terp: Terp, server: Server) -> None:
    (terp.cwd / "code.py").write_text("import os; print(os.getcwd())")
    assert terp("run", "code.py") == Result(0, f"{server.root}\n", "")


def test_its_kernelspecs_are_the_languages(terp: Terp, server: Server) -> None:
    result = terp("languages")
    told = "python  here  Python 3 (ipykernel), the kernelspec python3 of "
    assert [line for line in result.out.splitlines() if line.startswith(told)] == [told + server.gateway.host]


def test_the_doctor_asks_the_gateway_and_names_no_token(terp: Terp, server: Server) -> None:
    told = terp("doctor").out
    host = server.gateway.host
    assert f"  gateway   code runs at {host} (TERP_GATEWAY_URL), with the token of $JUPYTER_TOKEN\n" in told
    assert TOKEN not in told


def test_the_doctor_says_what_is_wrong_with_the_token(terp: Terp, server: Server) -> None:
    told = terp("doctor", JUPYTER_TOKEN="wrong-one").out
    assert f"! gateway   The gateway at {server.gateway.host} refuses the token of $JUPYTER_TOKEN" in told


def test_a_wrong_token_is_one_line_and_no_right(terp: Terp, server: Server) -> None:
    result = terp.asked(["Hello."], "-y", "hello", JUPYTER_TOKEN="wrong-one")
    assert (result.code, result.out) == (77, "")
    assert result.notes == (
        f"terp: The gateway at {server.gateway.host} refuses the token of $JUPYTER_TOKEN (403 Forbidden). "
        "Ask for a new one where the gateway or the hub gives them out.\n"
    )


def test_nobody_there_is_one_line_and_unavailable(terp: Terp) -> None:
    result = terp.asked(["Hello."], "-y", "hello", TERP_GATEWAY_URL="http://127.0.0.1:1")
    assert result.code == 69
    assert result.notes.startswith("terp: Nothing answers at 127.0.0.1:1: ")


def test_a_token_in_the_address_is_a_mistake(terp: Terp, server: Server) -> None:
    result = terp("--gateway", f"{server.url}/?token={TOKEN}", "-m", "openai/x", "hello", "there")
    assert (result.code, TOKEN in result.notes) == (2, False)


def test_code_runs_in_one_place(terp: Terp) -> None:
    result = terp("-y", "--attach", "newest", "-m", "openai/x", "hello", "there")
    told = "terp: attach and gateway_url exclude each other: code runs in one place.\n"
    assert (result.code, result.notes) == (2, told)
