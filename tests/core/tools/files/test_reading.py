"""Which tool files a session reads."""

from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.events.kernel import OnlyKernel
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import Places
from terp.settings.project.files import ProjectFile
from terp.tools.files.reading import read_toolbox
from terp.tools.toolbox import Toolbox, is_shipped


class Kernels(OnlyKernel):
    def __init__(self, cwd: str, language: str = "python") -> None:
        self.cwd, self.language = cwd, language


def declare(path: Path, name: str, doc: str = "Does it.") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"@register_tool\ndef {name}():\n    '{doc}'\n")
    return str(path)


def read(tmp_path: Path, *files: str, environ: dict[str, str] | None = None, **settings: str) -> Toolbox:
    places = Places(tmp_path / "config", tmp_path / "state")
    chosen = Settings(tools=files, **settings)  # type: ignore[arg-type]
    return read_toolbox(chosen, environ or {}, places, Kernels(str(tmp_path)))


def own(toolbox: Toolbox) -> list[str]:
    return [tool.name for tool in toolbox.tools if not is_shipped(tool)]


def test_the_files_of_the_person_and_those_that_are_named_are_read(tmp_path: Path) -> None:
    declare(tmp_path / "config" / "tools.py", "mine")
    (tmp_path / "config" / "tools.yaml").write_text("{name: asked, description: d}")
    named = declare(tmp_path / "other.py", "named")
    assert own(read(tmp_path, "other.py", named)) == ["mine", "asked", "named"]


def test_the_files_of_a_project_are_not_read_by_themselves(tmp_path: Path) -> None:
    declare(tmp_path / ".terp" / "tools.py", "theirs")
    toolbox = read(tmp_path)
    assert (own(toolbox), toolbox.sources, toolbox.problems) == ([], {}, ())


def test_of_a_trusted_file_of_a_project_the_bytes_count_that_were_trusted(tmp_path: Path) -> None:
    path = Path(declare(tmp_path / ".terp" / "tools.py", "seen"))
    seen = ProjectFile(path, path.read_bytes())
    declare(path, "swapped")
    places = Places(tmp_path / "config", tmp_path / "state")
    toolbox = read_toolbox(Settings(), {}, places, Kernels(str(tmp_path)), [seen])
    assert (own(toolbox), toolbox.sources) == (["seen"], {str(path): seen.content.decode()})


def test_a_file_of_a_project_that_was_named_is_read(tmp_path: Path) -> None:
    declare(tmp_path / ".terp" / "tools.py", "theirs")
    toolbox = read(tmp_path, ".terp/tools.py")
    assert (own(toolbox), toolbox.problems) == (["theirs"], ())


def test_a_tool_of_the_person_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    path = declare(tmp_path / "mine.py", "search_web", "Searches my notes.")
    toolbox = read(tmp_path, path)
    assert "Searches my notes." in toolbox.for_model()
    assert own(toolbox) == ["search_web"]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("gone.py", None, "cannot be read: No such file or directory."),
        ("tools.txt", b"", "is no tool file: these end in .py, .yaml or .json."),
        ("large.py", b"#" * 1_000_001, "is larger than 976 KB."),
    ],
)
def test_a_named_file_that_cannot_be_used_is_an_error(
    tmp_path: Path, name: str, text: bytes | None, problem: str
) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text)
    with pytest.raises(SettingsError) as wrong:
        read(tmp_path, name)
    assert wrong.value.problems == (f"tools: '{tmp_path / name}' {problem}",)


def test_the_persons_own_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config" / "tools.py"
    path.parent.mkdir()
    path.write_bytes(b"\n\xff")
    assert read(tmp_path).problems == (f"{path}:2: this line is not UTF-8; save the file as UTF-8.",)


def test_a_path_in_a_profile_is_relative_to_the_profile(tmp_path: Path) -> None:
    profile = tmp_path / "team" / "work.yaml"
    declare(profile.with_name("work.py"), "teamwork")
    profile.write_text("tools: [work.py]")
    places = Places(tmp_path / "config", tmp_path / "state")
    settings = load_settings({}, profile=str(profile), environ={}, places=places).settings
    assert settings.tools == (str(profile.with_name("work.py")),)


def test_without_python_there_are_no_tools(tmp_path: Path) -> None:
    places = Places(tmp_path / "config", tmp_path / "state")
    assert read_toolbox(Settings(), {}, places, Kernels(str(tmp_path), "shell")) == Toolbox()


def missing(toolbox: Toolbox) -> dict[str, str]:
    return {tool.name: tool.missing for tool in toolbox.tools if tool.missing}


def test_only_shipped_tools_that_can_work_are_told(tmp_path: Path) -> None:
    toolbox = read(tmp_path)
    assert missing(toolbox) == {
        "search_web": "search_web has no provider: set BRAVE_API_KEY or TAVILY_API_KEY, "
        "or search_url to a SearXNG server."
    }
    assert "search_web(" not in toolbox.for_model()
    assert "search_web" in toolbox.names


@pytest.mark.parametrize(
    ("environ", "settings"),
    [({"BRAVE_API_KEY": "k"}, {}), ({"TAVILY_API_KEY": "k"}, {}), ({}, {"search_url": "http://searx"})],
)
def test_a_key_or_an_address_makes_the_search_work(
    tmp_path: Path, environ: dict[str, str], settings: dict[str, str]
) -> None:
    assert missing(read(tmp_path, environ=environ, **settings)) == {}


@pytest.mark.parametrize(
    ("provider", "problem"),
    [
        ("brave", "search_web has no key: set BRAVE_API_KEY, which brave needs."),
        ("searxng", "search_web has no address: set search_url to that of your searxng server."),
    ],
)
def test_a_provider_without_its_key_or_address_is_named(tmp_path: Path, provider: str, problem: str) -> None:
    assert missing(read(tmp_path, search_provider=provider)) == {"search_web": problem}


def test_a_list_of_tools_is_a_copy_all_the_way_down(tmp_path: Path) -> None:
    toolbox = read(tmp_path, declare(tmp_path / "a.py", "mine"))
    toolbox.get_tools()["mine"]["params"].append("x")
    del toolbox.get_tools()["mine"]
    assert toolbox.get_tools()["mine"] == {"name": "mine", "description": "Does it.", "params": []}
