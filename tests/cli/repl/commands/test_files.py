import json
from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.events.messages import Assistant, Message, Result, User
from terp.kernels.jupyter.local import LocalKernels
from terp.settings.interpreter import Interpreter
from terp.testing import call
from tests.cli.repl.commands.here import Here
from tests.core.store.export.scripted import session

EVENTS = tuple(record.event for record in session())


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("/export ipynb", "plot-東京-sales.ipynb"),
        ("/export html page.html", "page.html"),
        ("/export page.md", "page.md"),
        ("/export py my script.py", "my script.py"),
        ('/export md "my page.md"', "my page.md"),
        ("/export 'my page.md'", "my page.md"),
        ('%markdown "my page.md"', "my page.md"),
        ("%jupyter", "plot-東京-sales.ipynb"),
        ("%markdown told.md", "told.md"),
    ],
)
async def test_an_export_says_its_path_and_size(tmp_path: Path, line: str, name: str) -> None:
    (said,) = await Here(tmp_path, *EVENTS).does(line)
    path, _, size = said.rpartition(" (")
    assert Path(path) == tmp_path / name
    assert Path(path).stat().st_size
    assert size.endswith((" kB)", " bytes)"))


async def test_a_script_names_packages_of_the_python_that_runs_the_code(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"numpy": ["numpy-of-the-project"]}\'\n', encoding="utf-8")
    python.chmod(0o700)
    kernels = LocalKernels(str(tmp_path))
    kernels.interpreter = Interpreter(str(python), "as you chose")
    await Here(tmp_path, *EVENTS, kernels=kernels).does("/export py a.py")
    assert '"numpy-of-the-project"' in (tmp_path / "a.py").read_text(encoding="utf-8")


async def test_an_export_needs_a_format(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="/export: the format is one of ipynb, py, md, html"):
        await Here(tmp_path, *EVENTS).does("/export pdf")


async def test_secrets_of_the_environment_are_taken_out(tmp_path: Path) -> None:
    here = Here(tmp_path, *EVENTS, environ={"MY_API_KEY": "look **first**"})
    await here.does("/export md a.md")
    assert "I'll [redacted]." in (tmp_path / "a.md").read_text(encoding="utf-8")


async def test_a_conversation_is_saved_and_loaded(tmp_path: Path) -> None:
    here = Here(tmp_path)
    before: list[Message] = [
        User("1+1?"),
        Assistant("Sure.", (call("1+1", id="a"),)),
        Result("a", "2"),
        Assistant("It is 2."),
    ]
    here.session.history = before
    (said,) = await here.does("%save_message")
    assert said.startswith(f"{tmp_path}/messages.json (4 messages, ")
    here.session.history = ()
    (said,) = await here.does("%load_message messages.json")
    assert said.startswith(f"The conversation is that of {tmp_path}/messages.json now: 4 messages.")
    assert list(here.session.history) == before


async def test_a_saved_conversation_never_replaces_a_file(tmp_path: Path) -> None:
    (tmp_path / "messages.json").write_text("mine", encoding="utf-8")
    here = await Here(tmp_path).asked("a")
    (said,) = await here.does("/save_message")
    assert said.startswith(f"{tmp_path}/messages-2.json ")
    assert (tmp_path / "messages.json").read_text(encoding="utf-8") == "mine"


async def test_a_saved_conversation_holds_no_secrets(tmp_path: Path) -> None:
    here = await Here(tmp_path).asked("my key is sk-abcdefghijklmnopqrstuvwx")
    await here.does("/save_message")
    entry, _ = json.loads((tmp_path / "messages.json").read_text(encoding="utf-8"))
    assert entry["content"] == "my key is [redacted]"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read: No such file or directory."),
        (b"\xff\xfe", "is not text."),
        (b"{", ": This is not JSON: Expecting property name"),
        (b"{}", ": This is no list of messages."),
        (b"[1]", ": Message 1 is not one with a role, a type and text."),
        (b'[{"role": "wizard", "content": ""}]', ": Message 1 has the role 'wizard' and the type 'message'."),
    ],
)
async def test_a_file_that_is_none_is_named(tmp_path: Path, content: bytes | None, why: str) -> None:
    if content is not None:
        (tmp_path / "m.json").write_bytes(content)
    here = await Here(tmp_path).asked("a")
    with pytest.raises(TerpError) as refused:
        await here.does("/load_message m.json")
    assert refused.value.message.startswith(f"{tmp_path}/m.json")
    assert why in refused.value.message
    assert [turn.prompt for turn in here.session.turns] == ["a"]


async def test_init_asks_the_model_for_a_diff_of_the_instructions(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/init")
    [(prompt, attached)] = here.next
    assert "edit_file('AGENTS.md'" in prompt and attached == ()
