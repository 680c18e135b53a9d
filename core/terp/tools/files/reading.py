"""Tool files of a session, and the tools that ship with terp. Reads declarations; runs no tool code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from terp.errors import SettingsError
from terp.events.kernel import Kernels
from terp.settings import Settings
from terp.settings.places import Places
from terp.settings.profile_file import short_path
from terp.settings.project.files import LARGEST_TOOLS_BYTES, ProjectFile
from terp.text.files import Refused, read_bounded
from terp.text.paths import typed_path
from terp.tools.files.declarations import read_declarations
from terp.tools.files.declared import Declared, Tool
from terp.tools.files.python_files import read_python
from terp.tools.skills import FUNCTION, Skills
from terp.tools.toolbox import SHIPPED, Toolbox, together
from terp.tools.web.searching import NoProvider, provider_for

OWN_FILES = ("tools.py", "tools.yaml", "tools.yml", "tools.json")
"""Tool files read from the user's configuration folder if they exist."""
_SUFFIXES = {".py", ".yaml", ".yml", ".json"}


def read_toolbox(
    settings: Settings,
    environ: Mapping[str, str],
    places: Places,
    kernels: Kernels,
    project: Sequence[ProjectFile] = (),
    skills: Skills | None = None,
    more: Sequence[Tool] = (),
) -> Toolbox:
    """Return the tools of terp, of the trusted `project` files, of the user's configuration and the settings.

    `more` are tools that are declared without a file.

    A later tool replaces an earlier one of the same name. The toolbox is empty if Python is not among the
    languages.

    Raises:
        SettingsError: a file that the settings name cannot be read.
    """
    if "python" not in kernels.languages:
        return Toolbox()
    named = [Path(kernels.cwd, typed_path(name)) for name in settings.tools]
    own = [path for name in OWN_FILES if (path := places.config / name).is_file()]
    sources: dict[str, str] = {}
    read: list[Declared] = []
    problems: list[str] = []
    for path, content in _files(project, [*own, *named]):
        try:
            text = _text(path, content)
        except SettingsError as error:
            if path in named:
                raise
            problems += error.problems
            continue
        read.append(_declared(path, text))
        if path.suffix == ".py":
            sources[str(path)] = text
    skills = skills or Skills()
    tools = together([shipped_tools(settings, environ, skills), *(file.tools for file in read), more])
    problems += [problem for file in read for problem in file.problems]
    return Toolbox(tools, (*problems, *skills.problems), sources, skills)


def functions_in(file: ProjectFile) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the signatures that a file declares, and one line for each problem; nothing of it runs."""
    try:
        declared = _declared(file.path, _text(file.path, file.content))
    except SettingsError as error:
        return (), tuple(error.problems)
    return tuple(f"{tool.name}({tool.arguments})" for tool in declared.tools), tuple(declared.problems)


def _files(project: Sequence[ProjectFile], others: Sequence[Path]) -> Iterator[tuple[Path, bytes | None]]:
    """Yield each file once, the one with precedence last; a project's files with their trusted content."""
    yield from ((file.path, file.content) for file in project if file.path not in others)
    yield from ((path, None) for path in dict.fromkeys(others))


def _declared(path: Path, text: str) -> Declared:
    if path.suffix == ".py":
        return read_python(text, short_path(path), str(path))
    return read_declarations(text, short_path(path), as_json=path.suffix == ".json")


def _text(path: Path, content: bytes | None = None) -> str:
    place = short_path(path)
    if path.suffix not in _SUFFIXES:
        raise SettingsError([f"tools: '{place}' is no tool file: these end in .py, .yaml or .json."])
    try:
        raw = read_bounded(path, LARGEST_TOOLS_BYTES) if content is None else content
    except Refused as refused:
        raise SettingsError([f"tools: '{place}' {refused}."]) from refused
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SettingsError([f"{place}:{line}: this line is not UTF-8; save the file as UTF-8."]) from error


_MODULE = "terp_home.shipped"


def shipped_tools(settings: Settings, environ: Mapping[str, str], skills: Skills) -> tuple[Tool, ...]:
    """Return the tools that ship with terp; `missing` is set on those that cannot work here."""
    lacking = {
        "search_web": _no_network(settings) or _no_search(settings, environ),
        "fetch_url": _no_network(settings),
        "view_image": _no_sight(settings),
    }
    tools = (replace(tool, missing=lacking.get(tool.name, "")) for tool in _shipped())
    return tuple(
        skills.described(tool) if tool.name == FUNCTION else tool
        for tool in tools
        if skills.by_name or tool.name != FUNCTION
    )


def _shipped() -> tuple[Tool, ...]:
    # Parsed like any tool file, from the source that is sent to the kernel.
    path = Path(__file__).parents[2] / "kernels" / "inside" / "shipped.py"
    read = read_python(path.read_text(encoding="utf-8"), SHIPPED, str(path), alone=False)
    return tuple(
        replace(tool, source=SHIPPED, how="import", target=f"{_MODULE}:{tool.name}") for tool in read.tools
    )


def _no_network(settings: Settings) -> str:
    closed = settings.sandbox == "strict" or not settings.network
    return "the network is closed to code: by network, or by sandbox: strict." if closed else ""


def _no_search(settings: Settings, environ: Mapping[str, str]) -> str:
    try:
        provider_for(settings, environ)
    except NoProvider as error:
        return error.message
    return ""


def _no_sight(settings: Settings) -> str:
    is_off = settings.supports_vision is False
    return "supports_vision is off: the model cannot see pictures." if is_off else ""
