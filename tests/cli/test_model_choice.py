"""What a person is told about the model they chose."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.running import Terp, said
from tests.cli.teletype import Teletype
from tests.loopback import Loopback


def test_a_model_that_looks_like_another_providers_is_doubted(tmp_path: Path) -> None:
    result = Terp(tmp_path)("-m", "openai/claude-3", "hi")
    assert result.code == 77
    assert result.notes.startswith(
        "terp: 'claude-3' looks like a model of anthropic, but goes to openai.\nterp: "
    )


def test_without_any_model_one_screen_says_what_to_do(tmp_path: Path) -> None:
    result = Terp(tmp_path)("hi")
    assert (result.code, result.out) == (77, "")
    assert "terp demo" in result.notes
    assert "ANTHROPIC_API_KEY" in result.notes


def listing(*names: str) -> dict[str, object]:
    """The page on which a server lists its models."""
    return {"/v1/models": {"data": [{"id": name} for name in names]}}


KEYS = {"ANTHROPIC_API_KEY": "sk-" + "x" * 20, "OPENAI_API_KEY": "sk-" + "y" * 20}


@pytest.mark.parametrize("way", ["flag", "variable", "file"])
def test_an_address_without_a_model_is_the_one_that_is_asked(tmp_path: Path, way: str) -> None:
    terp = Terp(tmp_path)
    with Loopback(["from there"], pages=listing("llama")) as server:
        flags = ("--api-base", server.url) if way == "flag" else ()
        variables = {"TERP_API_BASE": server.url} if way == "variable" else {}
        if way == "file":
            (terp.home / "config.yaml").write_text(f"api_base: {server.url}\n")
        result = terp(*flags, "-q", "my data?", data="private", **KEYS, **variables)
    assert (result.code, result.out, result.notes) == (0, "from there\n", "")
    assert (server.requests[0]["model"], said(server.requests[0])[1][1].partition("\n")[0]) == (
        "llama",
        "my data?",
    )


def test_several_models_at_an_address_are_a_mistake_where_nobody_can_choose(tmp_path: Path) -> None:
    with Loopback([], pages=listing("a", "b")) as server:
        result = Terp(tmp_path)("--api-base", server.url, "hi", **KEYS)
    assert (result.code, result.notes) == (
        2,
        f"terp: {server.url} lists 2 models (openai/a, openai/b): name the model with -m openai/NAME.\n",
    )


@pytest.mark.parametrize("words", [["hi"], []], ids=["once", "staying"])
def test_who_sits_at_a_terminal_chooses_among_several_models(tmp_path: Path, words: list[str]) -> None:
    terp = Terp(tmp_path)
    with Loopback(["hello"], pages=listing("a", "b/c")) as server:
        command = [sys.executable, "-m", "terp_cli", "--api-base", server.url, *words]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("openai/b/c")
            teletype.types("2\r")
            if not words:
                teletype.until("/help")
                teletype.types("hi\r")
            teletype.until("hello")
    assert server.requests[0]["model"] == "b/c"


@pytest.mark.parametrize("words", [["hi"], []], ids=["once", "staying"])
def test_a_server_of_this_machine_is_offered_at_a_terminal(tmp_path: Path, words: list[str]) -> None:
    terp = Terp(tmp_path)
    with Loopback(["hello"], pages={"/api/tags": {"models": [{"model": "qwen3:8b"}]}}) as server:
        terp.environ["OLLAMA_HOST"] = urlsplit(server.url).netloc
        with Teletype([sys.executable, "-m", "terp_cli", *words], terp.cwd, terp.environ) as teletype:
            teletype.until("ollama/qwen3:8b?")
            teletype.types("y\r")
            if not words:
                teletype.until("/help")
                teletype.types("hi\r")
            teletype.until("hello")
    assert server.requests[0]["model"] == "qwen3:8b"


def test_a_server_of_this_machine_is_named_where_nobody_can_agree(tmp_path: Path) -> None:
    with Loopback([], pages={"/api/tags": {"models": [{"model": "qwen3:8b"}]}}) as server:
        result = Terp(tmp_path)("hi", OLLAMA_HOST=urlsplit(server.url).netloc)
    assert result.code == 77
    assert result.notes.endswith("with ollama/qwen3:8b. Use it with --model ollama/qwen3:8b.\n")


def first_start(terp: Terp) -> Teletype:
    """A terminal where terp is started without a model, a key or a server."""
    return Teletype([sys.executable, "-m", "terp_cli"], terp.cwd, terp.environ)


def test_at_a_first_start_a_key_is_asked_for_unseen_and_kept(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with first_start(terp) as teletype:
        teletype.until("Esc leaves")
        teletype.types("openai gpt\r")
        teletype.until("it is not shown) ›")
        teletype.types("sk-unseen-0123456789\r")
        shown = teletype.until("openai/gpt-5.6")
    assert "sk-unseen" not in shown
    assert terp("keys").out.split()[0] == "openai"
    assert "sk-unseen-0123456789" in (terp.home / "keys.json").read_text()


def test_at_a_first_start_a_wrong_key_is_asked_for_again(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with first_start(terp) as teletype:
        teletype.until("Esc leaves")
        teletype.types("\r")
        teletype.until("it is not shown) ›")
        teletype.types("two words\r")
        teletype.until("so this was not stored")
        teletype.until("Esc leaves")
    assert not (terp.home / "keys.json").exists()


def test_at_a_first_start_the_demo_is_offered(tmp_path: Path) -> None:
    with first_start(Terp(tmp_path)) as teletype:
        teletype.until("Esc leaves")
        teletype.types("demo\r")
        shown = teletype.until("recorded")
    assert "it is not shown) ›" not in shown


def test_leaving_the_first_list_says_how_to_go_on(tmp_path: Path) -> None:
    with first_start(Terp(tmp_path)) as teletype:
        teletype.until("Esc leaves")
        teletype.types("\x1b")
        shown = teletype.until("<over ")
    assert "terp keys set PROVIDER stores a key" in " ".join(shown.split())


def test_a_session_is_resumed_with_its_last_model(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    command = [sys.executable, "-m", "terp_cli"]
    with Loopback(["Alpha", "Bravo", "Charlie", "Delta"]) as server:
        (terp.home / "config.yaml").write_text(
            f"model: openai/one\napi_base: {server.url}\ntitles: 'off'\nsandbox: 'off'\n"
        )
        environ = {**terp.environ, "OPENAI_API_KEY": "none"}
        with Teletype(command, terp.cwd, environ) as teletype:
            teletype.until("/help")
            teletype.types("hi\r")
            teletype.until("Alpha")
            teletype.types("/model openai/two\r")
            teletype.types("again\r")
            teletype.until("Bravo")
            teletype.types("\x04")
            teletype.until("<over 0>")
        with Teletype([*command, "-c"], terp.cwd, environ) as teletype:
            # The last answer is shown again, below the banner and above the toolbar.
            assert teletype.until("Bravo").count("openai/two") == 2
            teletype.types("more\r")
            teletype.until("Charlie")
        result = terp("-c", "-m", "openai/three", "and now", OPENAI_API_KEY="none")
    assert result.out == "Delta\n"
    assert [request["model"] for request in server.requests] == ["one", "two", "two", "three"]
