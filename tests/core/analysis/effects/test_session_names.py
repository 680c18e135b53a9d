import pytest

from terp.analysis.effects.cells import effects_of
from terp.analysis.effects.known import SERVERS, SHIPPED, TOOL, SessionNames
from terp.events import CodeFinished, CodeProposed, CodeTyped, KernelChanged
from terp.events.effects import Effect, cannot_tell
from terp.events.log import EventLog
from terp.events.outputs import RunStatus, VariableChange


class Kernel:
    """A session's log, written as its runs would."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.names = SessionNames(self.log, "python")

    def ran(self, code: str, *changes: VariableChange, status: RunStatus = "ok") -> None:
        effects = effects_of("python", code, self.names.known())
        call_id = f"c{self.log.last}"
        self.log.append(CodeProposed(call_id, "python", code, "digest", "/w", 1, "none", effects))
        self.log.append(CodeFinished(call_id, status, 0.1, changes=changes))

    @property
    def known(self) -> dict[str, str]:
        return dict(self.names.known())

    @property
    def learned(self) -> dict[str, str]:
        """What is known beside what terp itself binds."""
        given = Kernel().known
        known = self.known.items()
        return {name: path for name, path in known if name.isidentifier() and name not in given}


def new(name: str, kind: str) -> VariableChange:
    return VariableChange(name, "new", kind)


def test_what_an_understood_cell_bound_is_known_in_the_next() -> None:
    kernel = Kernel()
    kernel.ran("import pandas as pd\nimport os.path\ndf = pd.read_csv('a.csv')", new("df", "DataFrame"))
    assert kernel.learned == {"pd": "pandas", "os": "os", "df": "pandas.DataFrame"}
    assert effects_of("python", "df.groupby('a').mean()", kernel.known).kinds == frozenset()


def test_code_that_is_not_understood_makes_all_names_unknown() -> None:
    kernel = Kernel()
    kernel.ran("n = 1", new("n", "int"))
    kernel.ran("exec(code)")
    assert kernel.learned == {}


def test_a_cell_that_makes_types_of_its_own_teaches_nothing() -> None:
    kernel = Kernel()
    kernel.ran("class DataFrame:\n    pass\ndf = DataFrame()", new("df", "DataFrame"))
    assert kernel.learned == {}


def test_a_tool_of_the_session_is_named_and_doubted() -> None:
    known = {"get_weather": TOOL}
    called = effects_of("python", "print(get_weather('Paris'))", known)
    assert called == cannot_tell("calls tool get_weather (line 1)")
    assert effects_of("python", "list(map(get_weather, []))", known).targets("cannot tell")[0] == (
        "passes on tool get_weather (line 1)"
    )
    assert effects_of("python", "def get_weather(city): return city\nget_weather('Paris')", known).found == ()


def test_the_persons_own_code_and_a_new_kernel_make_all_names_unknown() -> None:
    kernel = Kernel()
    for event in (CodeTyped("typed1", "python", "n = open"), KernelChanged("python", "died")):
        kernel.ran("n = 1", new("n", "int"))
        kernel.log.append(event)
        assert kernel.learned == {}


def test_a_name_that_is_rebound_to_an_unknown_type_is_forgotten() -> None:
    kernel = Kernel()
    kernel.ran("n = 1", new("n", "int"))
    kernel.ran("n = object()", VariableChange("n", "changed", "object"))
    assert kernel.learned == {}


def test_a_cell_that_failed_after_its_first_binding_has_passed_the_imports_at_its_head() -> None:
    kernel = Kernel()
    kernel.ran("import math\nn = 1\nimport json", new("n", "int"), status="error")
    assert kernel.learned == {"math": "math", "n": "builtins.int"}


def test_imports_of_a_cell_that_failed_at_once_are_not_relied_on() -> None:
    kernel = Kernel()
    kernel.ran("import math\n1 / 0", status="error")
    assert kernel.learned == {}


def test_what_mcp_servers_do_is_not_known() -> None:
    told = effects_of("python", "mcp.time.now()", {"mcp": SERVERS}).targets("cannot tell")
    assert told == ("has an MCP server do what `mcp` names (line 1)",)


def test_a_library_of_the_name_mcp_is_another_thing() -> None:
    told = effects_of("python", "import mcp\nmcp.x()", {"mcp": SERVERS}).targets("cannot tell")
    assert "MCP server" not in " ".join(told)


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("import pandas as pd\ndf = pd.read_csv(stdin_path)", {"reads"}),
        ("print(len(stdin_data.splitlines()))", set()),
        ("out[3].text\nout[-1].grep('error')", set()),
    ],
)
def test_what_terp_binds_is_known(code: str, kinds: set[str]) -> None:
    assert effects_of("python", code, Kernel().known).kinds == kinds


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ("edit_file('notes.txt', 'a', 'b')", Effect("writes", ("notes.txt",))),
        ("view_image('red.png')", Effect("reads", ("red.png",))),
        ("print(fetch_url('https://example.org/a'))", Effect("network", ("example.org",))),
        ("search_web('terp')", Effect("network", ("a search of the web",))),
    ],
)
def test_the_tools_that_terp_brings_are_known_for_what_they_do(code: str, effect: Effect) -> None:
    known = {name: f"{SHIPPED}.{name}" for name in ("edit_file", "view_image", "fetch_url", "search_web")}
    assert effects_of("python", code, known).found == (effect,)


def test_a_function_that_only_computes_is_known_in_later_cells() -> None:
    kernel = Kernel()
    kernel.ran("def double(x):\n    return 2 * x", new("double", "function"))
    kernel.ran("text = open('a.txt').read()", new("text", "str"))
    assert effects_of("python", "double(len(text))", kernel.known).found == ()


@pytest.mark.parametrize(
    "code",
    [
        "import os\ndef clear(p):\n    os.remove(p)",
        "from shutil import rmtree as clear",
        "import os\ndef clear(p):\n    return p\nclear = os.remove",
        "import functools\n@functools.cache\ndef clear(p):\n    return p",
    ],
)
def test_a_function_that_may_do_more_is_not_known_in_later_cells(code: str) -> None:
    kernel = Kernel()
    kernel.ran(code, new("clear", "function"))
    assert "cannot tell" in effects_of("python", "clear('/')", kernel.known).kinds


def test_functions_are_forgotten_after_code_that_does_more_than_read() -> None:
    kernel = Kernel()
    kernel.ran("def total(x):\n    return sum(x)", new("total", "function"))
    kernel.ran("import os\nsum = os.remove", new("sum", "builtin_function_or_method"))
    assert "cannot tell" in effects_of("python", "total('/')", kernel.known).kinds


def test_objects_of_later_cells_can_be_paths_once_something_was_imported_from_pathlib() -> None:
    kernel = Kernel()
    kernel.ran("from pathlib import Path\nfiles = [Path('victim.txt')]", new("files", "list"))
    for method in ("rename", "replace"):
        kinds = effects_of("python", f"files[0].{method}('moved')", kernel.known).kinds
        assert kinds == {"deletes", "writes"}


def test_a_builtin_that_was_hidden_is_not_known_until_the_kernel_is_new() -> None:
    kernel = Kernel()
    kernel.ran("import os\nprint = os.system", new("print", "builtin_function_or_method"))
    assert "cannot tell" in effects_of("python", "print('touch canary')", kernel.known).kinds
    kernel.log.append(KernelChanged("python", "died"))
    assert effects_of("python", "print('x')", kernel.known).found == ()


def test_what_a_kernel_has_now_is_known_by_package_and_class() -> None:
    kernel = Kernel()
    kernel.ran("n = 1", new("n", "int"))
    kernel.names.learn(
        {"pd": ("pandas", ""), "df": ("pandas", "DataFrame"), "own": ("__main__", "DataFrame")}
    )
    assert kernel.learned == {"pd": "pandas", "df": "pandas.DataFrame"}


def test_a_variable_that_hides_a_builtin_or_what_terp_binds_is_not_known() -> None:
    kernel = Kernel()
    kernel.names.learn({"open": ("__main__", "function"), "out": ("__main__", "Outputs")})
    assert (kernel.known["open"], "out" in kernel.known) == ("", False)
