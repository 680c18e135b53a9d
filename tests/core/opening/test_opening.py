"""`terp.open` and `terp.kernel` with objects: models, functions that approve, functions as tools."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import nbformat
import pytest
from nbclient import NotebookClient

import terp
from terp.errors import SettingsError
from terp.events import CodeProposed
from terp.events.model import Replied, TextChunk
from terp.events.outputs import Display
from terp.session.reply import CodeRun, Reply
from terp.testing import ScriptedModel, call
from tests.core.opening.test_session import home_of, surroundings


def opened(tmp_path: Path, model: ScriptedModel, **more: Any) -> Any:
    return terp.open(model=model, cwd=tmp_path, environ=surroundings(tmp_path), **more)


def test_a_model_is_an_object(tmp_path: Path) -> None:
    model = ScriptedModel("hello")
    with opened(tmp_path, model) as chat:
        assert chat("hi").text == "hello"
    assert model.closed


def test_a_model_that_yields_something_else_is_reported(tmp_path: Path) -> None:
    class Texts(ScriptedModel):
        async def stream(self, messages: Any, tools: Any = ()) -> Any:
            yield "hello"

    with opened(tmp_path, Texts()) as chat, pytest.raises(TypeError, match="yielded 'hello', no chunk"):
        chat("hi")


def test_a_reply_that_is_no_message_is_reported(tmp_path: Path) -> None:
    class Texts(ScriptedModel):
        async def stream(self, messages: Any, tools: Any = ()) -> Any:
            yield Replied("hello")  # type: ignore[arg-type]

    with (
        opened(tmp_path, Texts()) as chat,
        pytest.raises(TypeError, match=r"yielded Replied\(message='hello'"),
    ):
        chat("hi")


def test_a_function_approves_code_by_what_it_is_shown(tmp_path: Path) -> None:
    seen: list[CodeProposed] = []

    def approve(proposed: CodeProposed) -> bool | str:
        seen.append(proposed)
        return "no files" if "deletes" in proposed.effects.kinds else True

    model = ScriptedModel([call("import os; os.remove('x')")], [call("print(1)")], "done")
    with opened(tmp_path, model, approve=approve) as chat:
        reply = chat("go")
    assert [run.code for run in reply.code_log] == ["print(1)"]
    assert "They said: no files" in model.requests[1][-1].text
    assert [(one.code, one.cwd) for one in seen][1] == ("print(1)", str(tmp_path))


def test_an_async_function_declines_with_false(tmp_path: Path) -> None:
    async def approve(proposed: CodeProposed) -> bool:
        await asyncio.sleep(0)
        return False

    model = ScriptedModel([call("print(1)")], "done")
    with opened(tmp_path, model, approve=approve) as chat:
        assert chat("go").code_log == ()
    assert "the person declined to run this code." in model.requests[1][-1].text


def test_other_code_of_a_function_is_proposed_and_runs_without_another_call(tmp_path: Path) -> None:
    def approve(proposed: CodeProposed) -> terp.Run:
        return terp.Run(f"{proposed.code}\nprint('more')")

    events: list[Any] = []
    with opened(tmp_path, ScriptedModel([call("print(1)")], "done"), approve=approve) as chat:
        reply = chat("go", on_event=events.append)
    assert [run.text for run in reply.code_log] == ["1\nmore\n"]
    proposed = [event.code for event in events if isinstance(event, CodeProposed)]
    assert proposed == ["print(1)", "print(1)\nprint('more')"]


@pytest.mark.parametrize("answer", [None, 1, terp.Run(5)])  # type: ignore[arg-type]
def test_a_function_that_answers_something_else_runs_nothing(tmp_path: Path, answer: Any) -> None:
    with (
        opened(tmp_path, ScriptedModel([call("print(1)")]), approve=lambda proposed: answer) as chat,
        pytest.raises(terp.TurnFailed, match=r"approve returned .*, and no code ran\. Return True"),
    ):
        chat("go")


def price(symbol: Annotated[str, "A ticker."], days: int = 1) -> list[float]:
    """Return the last prices of a share."""
    return [1.5] * days


async def weather(city: str) -> dict[str, str]:
    """Return the weather."""
    return {"city": city}


def unfit(city: str) -> object:
    """Return no JSON."""
    return object()


def test_functions_of_the_program_are_tools_of_the_model(tmp_path: Path) -> None:
    code = "print(price('ABC', '2'), weather(city='Rome'))"
    model = ScriptedModel([call(code)], [call("unfit('x')")], "done")
    with opened(tmp_path, model, tools=[price, weather, unfit], approve="never") as chat:
        first, second = chat("go").code_log
    assert first.text == "[1.5, 1.5] {'city': 'Rome'}\n"
    assert second.error is not None
    assert second.error.value.startswith("unfit returned a object, which is no JSON")
    system = model.requests[0][0].text
    assert "price(symbol: str, days: int = 1) -> list[float]" in system
    assert "- symbol: A ticker." in system


def without_words(x: int) -> int:
    return x


def untyped(x):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN001
    """Return x."""
    return x


class WithoutTools(ScriptedModel):
    async def stream(self, messages: Any) -> Any:  # type: ignore[override]
        yield TextChunk("hello")


class Plain(ScriptedModel):
    def stream(self, messages: Any, tools: Any = ()) -> Any:
        yield TextChunk("hello")


class Returning(ScriptedModel):
    async def stream(self, messages: Any, tools: Any = ()) -> Any:  # type: ignore[override]
        return "hello"


class BlockingClose(ScriptedModel):
    def aclose(self) -> Any: ...


class Blocking(terp.Nobody):
    def approve(self, proposed: CodeProposed) -> Any: ...


class Unasked(terp.Nobody):
    async def type_in(self, prompt: str) -> str:  # type: ignore[override]
        return ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"modle": "x"}, "unknown setting 'modle'. Did you mean 'model'?"),
        ({"aprove": "never"}, "unknown setting 'aprove'. Did you mean 'approve'?"),
        ({"model": object()}, "model has no method stream; see terp.events.model.Model."),
        ({"approve": "efect"}, "approve is 'efect', must be one of before, effect, never, or a function."),
        ({"approve": print, "person": terp.Nobody()}, "approve is a function and there is a person"),
        ({"approve": lambda: True}, "approve must take one argument, the proposal; see terp docs approval."),
        ({"model": ScriptedModel}, "model is the class ScriptedModel; give an object of it."),
        ({"person": object()}, "person has no method approve; see terp.person.Person."),
        ({"tools": print}, "must be a list of files and functions."),
        ({"tools": [3]}, "tools is [3], must be a list of files and functions."),
        ({"tools": [without_words]}, "tools: without_words has no docstring, which the model needs."),
        ({"tools": [untyped]}, "tools: untyped has a parameter `x` without a type annotation."),
        ({"tools": [len]}, "tools: len is a name of Python's own"),
        ({"trusted": True}, "trusted is True, must be a function."),
        ({"model": WithoutTools()}, "model.stream must take messages, tools; see terp.events.model.Model."),
        ({"model": Plain()}, "model.stream must be async and yield; see terp.events.model.Model."),
        ({"model": Returning()}, "model.stream must be async and yield; see terp.events.model.Model."),
        ({"model": BlockingClose()}, "model.aclose must be async; see terp.events.model.Model."),
        ({"person": Blocking()}, "person.approve must be async; see terp.person.Person."),
        ({"person": Unasked()}, "person.type_in must take prompt, secret; see terp.person.Person."),
        ({"keep": 5}, "keep has no method begin; see terp.session.keeping.Keeping."),
        ({"cwd": "/nope"}, "cwd is '/nope', must be a folder."),
        ({"environ": 5}, "environ is 5, must be a mapping of names to text."),
        ({"profile": 5}, "profile is 5, must be text."),
        ({"trusted": lambda path: True}, "trusted must take two arguments: the path of a file, its content."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_wrong_objects_fail_before_any_model_is_asked(tmp_path: Path, wrong: Any, message: str) -> None:
    with pytest.raises(SettingsError) as failed:
        terp.open(**{"environ": surroundings(tmp_path), **wrong})
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(
            ({name: 1}, f"'{name}' is for terp.open: a kernel has no model, and asks no question.")
            for name in ("model", "approve", "person", "temperature", "tools")
        ),
        ({"sandbx": "off"}, "unknown setting 'sandbx'. Did you mean 'sandbox'?"),
        ({"sandbox": "of"}, "'sandbox' is 'of', must be one of auto, off, workspace, strict, docker."),
        ({"cwd": "/nope"}, "cwd is '/nope', must be a folder."),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_kernel_refuses_what_only_a_conversation_has(tmp_path: Path, wrong: Any, message: str) -> None:
    with pytest.raises(SettingsError) as failed:
        terp.kernel(environ=surroundings(tmp_path), **wrong)
    assert str(failed.value) == f"terp.kernel: {message}"


def test_a_chat_shares_its_kernel_with_the_program(tmp_path: Path) -> None:
    model = ScriptedModel([call("result = sum(numbers)")], "done", "fine")
    with opened(tmp_path, model, approve="never") as chat:
        chat["numbers"] = [1, 2, 3]
        reply = chat("add them")
        assert (chat["result"], chat.variables["result"].type) == (6, "int")
        run = chat.run("result / 0")
        assert run.error is not None
        chat("and now?")
    assert reply.code_log[0].status == "ok"
    assert "I have set the variable numbers" in model.requests[0][-1].text
    assert "result / 0" in model.requests[-1][-1].text


def test_tables_are_attached(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    model = ScriptedModel()
    with opened(tmp_path, model) as chat:
        chat("what is it?", [pandas.DataFrame({"a": [1], "b": ["x"]})])
        with pytest.raises(terp.TerpError, match="cannot attach an object of type set"):
            chat("and this?", [{1}])
    assert "table.csv" in model.requests[0][-1].text
    assert "a,b" in model.requests[0][-1].text


def test_one_prompt_is_repeated_until_its_check_passes(tmp_path: Path) -> None:
    model = ScriptedModel("now", [call("open('made', 'w').close()")], "there", "plain")
    with opened(tmp_path, model, approve="never", sandbox="off") as chat:
        reply = chat("make the file", until="test -f made")
        assert [check.attempt for check in reply.checks] == [1, 2]
        assert chat("and?").checks == ()


def test_a_problem_is_solved_within_the_conversation(tmp_path: Path) -> None:
    problem = '"""Write double(n)."""\n\ndef double(n): ...\n\nassert double(2) == 4\n'
    solution = "```python\ndef double(n):\n    return 2 * n\n```"
    model = ScriptedModel(
        solution, "```python\nassert double(3) == 6\n```", solution, [call("print(1)")], "done"
    )
    with opened(tmp_path, model, approve="never") as chat:
        outcome = chat.solve(problem)
        assert (outcome.passed, outcome.reason, "2 * n" in outcome.code) == (True, "done", True)
        assert "It passes 1 given test" in str(outcome)
        # Code runs in the kernel again.
        assert chat("go").code_log[0].text == "1\n"


def test_a_problem_in_a_file_that_is_not_there_is_no_text(tmp_path: Path) -> None:
    model = ScriptedModel()
    with opened(tmp_path, model) as chat, pytest.raises(SettingsError, match="no such folder or file"):
        chat.solve("problems/double.md")
    assert model.requests == []


def test_a_folder_that_cannot_keep_a_session_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(terp.TerpError, match=r"Nothing can be stored in .*/file/mine: Not a directory\."),
        opened(tmp_path, ScriptedModel(), keep=tmp_path / "file" / "mine"),
    ):
        pass


def test_a_kernel_runs_code_without_a_model(tmp_path: Path) -> None:
    with terp.kernel(cwd=tmp_path, environ=surroundings(tmp_path)) as kernel:
        assert kernel.status() == "stopped"
        kernel["x"] = 20
        assert ("x" in kernel, "y" in kernel) == (True, False)
        assert kernel.run("x + 1").text == "21\n"
        assert kernel.upload(b"abc", "a.txt") == str(tmp_path / "a.txt")
        assert kernel.download("a.txt") == b"abc"
        assert kernel.upload(tmp_path / "a.txt", "b.txt") == str(tmp_path / "b.txt")
        kernel.restart()
        assert (dict(kernel.variables), kernel.status()) == ({}, "ready")
        kernel.stop()
        assert kernel.status() == "stopped"


async def test_a_kernel_in_a_sandbox_is_confined(tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    async with terp.kernel(
        cwd=tmp_path, environ=surroundings(tmp_path), sandbox="workspace", sandbox_required=True
    ) as kernel:
        await kernel.run(f"open({str(outside)!r}, 'w')")
        assert kernel.session.kernels.get("python").tier != "none"
        await kernel.set("x", 1)
        assert await kernel.get("x") == 1
    assert not outside.exists()


def test_a_session_is_asked_and_its_kernel_used_without_a_thread(tmp_path: Path) -> None:
    async def main() -> tuple[str, str]:
        async with opened(tmp_path, ScriptedModel("hello")) as chat:
            return (await chat.ask("hi")).text, (await chat.kernel.run("6 * 7")).text

    assert asyncio.run(main()) == ("hello", "42\n")


PICTURE = Display({"image/png": "aGk=", "text/plain": "<Figure>"})
TABLE = Display({"text/html": "<style>x</style><table>\n\n<tr></tr></table>", "text/plain": "a\n1"})
PAGE = Display({"text/html": "<script>alert(1)</script>", "text/plain": "a chart"})


def test_a_reply_is_markdown_with_tables_and_pictures_in_a_notebook() -> None:
    reply = Reply("**Done**", "done", code_log=(CodeRun("python", "x", "ok", (TABLE, PICTURE, PAGE)),))
    assert reply._repr_mimebundle_() == {
        "text/markdown": "**Done**\n\n<table>\n<tr></tr></table>\n\n![picture](data:image/png;base64,aGk=)",
        "text/plain": "**Done**",
    }
    assert "a chart" in reply.code_log[0]._repr_mimebundle_()["text/markdown"]


def test_a_notebook_shows_a_reply_and_takes_variables(tmp_path: Path) -> None:
    cells = [
        "import terp; from terp.testing import ScriptedModel",
        f"opened = terp.open(model=ScriptedModel('**Done**'), cwd={str(tmp_path)!r}, languages=['python'])",
        "chat = opened.__enter__(); chat['x'] = [1, 2]; chat('hi').show(); chat['x']",
        "async with terp.kernel(languages=['python']) as kernel: print((await kernel.run('6 * 7')).text)",
        "chat.close()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    client = NotebookClient(notebook, timeout=60, kernel_name="python3")
    client.execute(env={**os.environ, "TERP_HOME": str(home_of(tmp_path))})
    shown, value = notebook.cells[2].outputs
    assert shown.data == {"text/markdown": "**Done**", "text/plain": "**Done**"}
    assert value.data == {"text/plain": "[1, 2]"}
    assert notebook.cells[3].outputs[0].text == "42\n\n"


def test_outside_of_a_notebook_a_reply_is_shown_by_what_writes() -> None:
    written: list[str] = []
    Reply("hello", "done").show(written.append)
    assert written == ["hello"]


def test_a_type_checker_finds_a_misspelt_setting(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import terp\n\n"
        "with terp.open(model='openai/x', approve='effect', sandbox='strict', max_steps=3) as chat:\n"
        "    text: str = chat('hi').text\n"
        "    frame: object = chat['frame']\n"
        "terp.open(modle='x')\n"
        "terp.open(sandbox='strickt')\n"
        "terp.open(approve=lambda proposed: 'rm' not in proposed.code)\n"
        "terp.kernel(max_steps='3')\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)]
    root = Path(terp.__file__).parents[1]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={"MYPYPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.partition("program.py:")[2] for line in ran.stdout.splitlines() if "program.py:" in line]
    assert [line.partition(":")[0] for line in lines if ": error:" in line] == ["6", "7", "9"], ran.stdout
    assert '"modle"' in lines[0]


@pytest.mark.parametrize("name", [name for name in terp.__all__ if callable(getattr(terp, name))])
def test_every_public_name_is_documented(name: str) -> None:
    found: Callable[..., Any] = getattr(terp, name)
    assert (found.__doc__ or "").strip()
    members = vars(found).items() if isinstance(found, type) else ()
    bare = [key for key, one in members if not key.startswith("_") and callable(one) and not one.__doc__]
    assert bare == []


def test_the_public_names_are_shown() -> None:
    assert {"open", "kernel", "Chat", "LiveKernel", "Reply"} <= set(dir(terp))
    assert set(dir(terp)) == {*terp.__all__, "__version__"}
