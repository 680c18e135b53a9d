"""What the documents say, tried."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from terp.person import AutoRun
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel
from terp_cli.line.flags import all_flags
from terp_cli.line.stopping import EXIT_CODES
from tests.loopback import Call, Loopback
from tests.test_architecture import ROOMS

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGES = sorted(ROOT.glob("docs/*.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *PAGES])
WITH_EXAMPLES = [ROOT / "README.md", ROOT / "docs" / "stores.md"]
WITH_OUTPUT = [
    pytest.param(example, output, id=f"{path.stem}-{number}")
    for path in PAGES
    for number, (example, output) in enumerate(
        re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL), 1
    )
]
EXAMPLES = [
    example
    for path in WITH_EXAMPLES
    for example in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
]


def printed_by(example: str, server: Loopback, home: Path) -> str:
    """What a Python example of the documents prints, with a server in place of OpenAI's."""
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT / "core"), str(ROOT / "cli")]),
        "TERP_HOME": str(home),
        "TERP_API_BASE": server.url,
        "OPENAI_API_KEY": "unused",
    }
    command = [sys.executable, "-c", example]
    ran = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_examples_of_the_documents_run(number: int, tmp_path: Path) -> None:
    code = "print(len([n for n in range(2, 100) if all(n % d for d in range(2, n))]))"
    with Loopback([Call(code=code), "There are 25."]) as server:
        printed = printed_by(EXAMPLES[number], server, tmp_path)
    assert "There are 25." in printed
    assert code in printed


@pytest.mark.parametrize(("example", "output"), WITH_OUTPUT)
def test_an_example_prints_the_output_below_it(example: str, output: str, tmp_path: Path) -> None:
    code = "print(len([n for n in range(2, 100) if all(n % d for d in range(2, n))]))"
    with Loopback([Call(code=code), "There are 25."]) as server:
        printed = printed_by(example, server, tmp_path)
    assert printed.rstrip() == output.rstrip()


@pytest.mark.parametrize("name", ["approval", "events", "kernel", "library", "model"])
def test_each_example_of_the_pages_on_python_has_its_output(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert 0 < page.count("```python") == page.count("```text")


def test_the_page_of_pipelines_lists_every_exit_code() -> None:
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE)
    listed = {int(code) for row in rows for code in row.split(",")}
    assert listed >= set(EXIT_CODES.values())


def test_every_flag_that_a_document_gives_to_terp_exists() -> None:
    spelled = {spelling.replace("_", "-") for spelling in all_flags()}
    named = {
        (path.name, flag)
        for path in [ROOT / "README.md", *PAGES]
        for command in commands_of_terp(path)
        for flag in re.findall(r"(?<!\S)--?[a-z][\w-]*", command)
        if not flag.endswith("-")
    }
    assert len(named) >= 50
    assert {(name, flag) for name, flag in named if flag.replace("_", "-") not in spelled} == set()


def commands_of_terp(path: Path) -> list[str]:
    """The calls of terp in a document, each up to a pipe, without comments and quoted words."""
    text = path.read_text(encoding="utf-8")
    calls = re.findall(r"(?:^|[$`|] *)(terp(?: [^`|;\n]*)?|(?<=`)--[a-z][^`]*)", text, re.MULTILINE)
    return [re.sub(r"'[^']*'|\"[^\"]*\"|#.*| -- .*", "", call) for call in calls]


def test_every_name_of_the_library_on_a_page_exists(tmp_path: Path) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    session = Session(ScriptedModel([]), EchoKernel(), AutoRun(), folder=tmp_path)
    of_session = set(re.findall(r"`session\.([a-z_.]+)", text))
    of_modules = set(re.findall(r"`(terp\.[A-Za-z_.]+)", text))
    assert min(len(of_session), len(of_modules)) >= 5
    for name in of_session:
        attrgetter(name)(session)
    for name in of_modules:
        resolve_name(name)


def test_every_file_that_a_document_links_to_exists() -> None:
    links = [
        (path.name, path.parent / target.partition("#")[0])
        for path in DOCUMENTS
        for target in re.findall(
            r"\]\(([^):]+)\)", re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        )
    ]
    assert [link for link in links if not link[1].exists()] == []


def test_the_index_links_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {path.name for path in PAGES} - {"index.md"}


@pytest.mark.parametrize("path", [path for path in PAGES if path.stem != "index"], ids=lambda path: path.stem)
def test_a_page_begins_with_an_example(path: Path) -> None:
    beginning = path.read_text(encoding="utf-8").partition("\n## ")[0]
    assert "\n```" in beginning


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 800


def test_every_file_and_module_that_the_guide_for_changes_names_exists() -> None:
    named = set(re.findall(r"(?<![\w/])((?:core|cli|tests|bench|docs|man|\.ci)/[\w/.]*\w/?)", CONTRIBUTING))
    assert len(named) >= 30
    assert {path for path in named if not (ROOT / path).exists()} == set()
    modules = set(re.findall(r"`(terp_cli\.[a-z_.]+)`", CONTRIBUTING))
    assert {name for name in modules if find_spec(name) is None} == set()


def test_the_architecture_is_one_page() -> None:
    assert len(ARCHITECTURE.split()) <= 700


@pytest.mark.parametrize("root", ROOMS, ids=lambda root: root.name)
def test_the_tables_of_rooms_have_the_order_that_the_imports_have(root: Path) -> None:
    table = ARCHITECTURE.partition(f"| `{root.relative_to(ROOT)}/` |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = {
        name.removesuffix("/").removesuffix(".py") for cell in cells for name in re.findall(r"`(.*?)`", cell)
    }
    rooms = [re.findall(r"`([a-z_]+)", cell)[0] for cell in cells]
    assert named == set(ROOMS[root].split())
    assert rooms[:-1] == [room for room in ROOMS[root].split() if room in rooms[:-1]]


def test_every_file_that_the_architecture_names_exists() -> None:
    named = set(re.findall(r"`((?:core|cli|tests|bench)/[\w/.]+)`", ARCHITECTURE))
    assert len(named) >= 10
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_target_that_a_document_names_is_made() -> None:
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    assert named - made == set()
