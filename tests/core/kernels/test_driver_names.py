"""Driven languages tell their variables and complete words, and run nothing of the person's for it."""

from collections.abc import AsyncGenerator

import pytest

from terp.events.kernel import Kernel
from tests.core.kernels.driven import DrivenKernels
from tests.core.kernels.running import ran

SETS = {
    "ruby": "n = 41; s = 'a' * 99; list = [1, {'a' => nil}]; def far = 1\nclass Foo; end; foo = Foo.new; nil",
    "php": "$n = 41; $s = str_repeat('a', 99); $list = [1, ['a' => null]]; function far() {}\n"
    "class Foo { public $bar; function bark() {} } $foo = new Foo;",
    "perl": "my $n = 41; my $s = 'a' x 99; my @list = (1, {a => undef}); sub far { 1 }",
    "lua": "n = 41; s = string.rep('a', 99); local list = {1, {a = 2}}; function far() end",
    "javascript": "const n = 41; let s = 'a'.repeat(99), list = [1, { a: null }]; function far() {}\n"
    "class Foo { bark() {} } var foo = new Foo(); undefined",
    "r": "n <- 41; s <- strrep('a', 99); list <- list(1, a = 2); far <- function() 1",
    "java": 'int n = 41; String s = "a".repeat(99); List<Integer> list = List.of(1); void far() {}',
}
A80 = "a" * 80
TOLD = {
    "ruby": [
        ("Foo", "Class", ""),
        ("far", "method", ""),
        ("foo", "Foo", ""),
        ("list", "Array", '[1, {"a" => nil}]'),
        ("n", "Integer", "41"),
        ("s", "String", f'"{A80}"…'),
    ],
    "php": [
        ("Foo", "class", ""),
        ("far", "function", ""),
        ("foo", "Foo", ""),
        ("list", "array", "[1, [a => ]]"),
        ("n", "int", "41"),
        ("s", "string", f"'{A80}'…"),
    ],
    "perl": [
        ("far", "sub", ""),
        ("list", "array", "[1, {a => undef}]"),
        ("n", "scalar", "41"),
        ("s", "scalar", f"'{A80}…'"),
    ],
    "lua": [
        ("far", "function", ""),
        ("list", "table", "{1, {a = 2}}"),
        ("n", "number", "41"),
        ("s", "string", f'"{A80}"…'),
    ],
    "javascript": [
        ("Foo", "Function", ""),
        ("far", "Function", ""),
        ("foo", "Foo", "Foo {}"),
        ("list", "Array", "[ 1, { a: null } ]"),
        ("n", "number", "41"),
        ("s", "string", f"'{A80}'... 19 more characters"),
    ],
    "r": [
        ("far", "function", ""),
        ("list", "list", "List of 2"),
        ("n", "numeric", "num 41"),
        ("s", "character", f'chr "{"a" * 63}"| __truncated__'),
    ],
    "java": [
        ("far", "method", "()void"),
        ("list", "List<Integer>", ""),
        ("n", "int", "41"),
        ("s", "String", f'"{"a" * 99}…'),
    ],
}
COMPLETED: dict[str, dict[str, list[str] | int]] = {
    "ruby": {
        "lis": ["list"],
        "n.bit_l": ["n.bit_length"],
        "x = fa": ["fail", "false", "far"],
        "File::SEP": 1,
        "": [],
    },
    "php": {"$li": ["$list"], "echo $foo->ba": ["$foo->bar", "$foo->bark"], "str_rep": 2, "": []},
    "perl": {"@li": ["@list"], "print $l": ["$list"], "fa": ["far"], "unsh": ["unshift"], "": []},
    "lua": {"lis": ["list"], "string.rep": ["string.rep"], "s:repe": [], "x = fa": ["false", "far"], "": []},
    "javascript": {"lis": ["list"], "foo.ba": ["foo.bark"], "1 + n.toF": ["n.toFixed"], "fa": 2, "": []},
    "r": {"far": ["far"], "list$": ["list$a"], "stats::medp": ["stats::medpolish"], "": []},
    "java": {"lis": ["list"], "list.siz": ["list.size()"], "StringBui": ["StringBuilder"], "": []},
}
# What would print, or never end, if it were called for a look at a value.
SPITEFUL = {
    "ruby": "class Bad; def inspect = puts('called'); def class = loop {}; end; bad = Bad.new; nil",
    "php": """class Bad { function __toString(): string { echo 'called'; }
function __get($n) { echo 'called'; } } $bad = new Bad;""",
    "perl": """package Bad; use overload q("") => sub { print "called" };
package main; our $bad = bless {}, "Bad"; 1""",
    "lua": """function called() print('called') end
bad = setmetatable({}, {__tostring = called, __index = called, __pairs = called})""",
    "javascript": """function called() { console.log('called') }
var bad = { get x() { called() }, [Symbol.for('nodejs.util.inspect.custom')]: called, toString: called };
undefined""",
    "r": "makeActiveBinding('bad', function() cat('called'), globalenv())",
    "java": """class Bad { public String toString() { System.out.println("called"); return ""; } }
Bad bad = new Bad();""",
}
LANGUAGES = tuple(SETS)


@pytest.fixture(scope="module")
async def driven(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[DrivenKernels, None]:
    kernels = DrivenKernels(str(tmp_path_factory.mktemp("driven")))
    yield kernels
    await kernels.aclose()


@pytest.fixture(params=LANGUAGES)
async def kernel(request: pytest.FixtureRequest, driven: DrivenKernels) -> Kernel:
    kernel = driven.get(request.param)
    await kernel.restart()
    run = await ran(kernel, SETS[request.param])
    assert (run.ended.status, run.error) == ("ok", "")
    return kernel


async def test_what_code_has_defined_is_listed_and_nothing_else(kernel: Kernel) -> None:
    rows = [(one.name, one.type, one.head) for one in await kernel.variables()]
    assert rows == TOLD[kernel.language]


async def test_names_are_told_with_their_types(kernel: Kernel) -> None:
    # The first answer may come too late for who types.
    await kernel.variables()
    assert await kernel.names() == {name: kind for name, kind, _ in TOLD[kernel.language]}


async def completed(kernel: Kernel, word: str, expected: list[str] | int) -> list[str]:
    """The words for `word`, asked for again while there are none: early answers may come too late."""
    for _ in range(20):
        found = list(await kernel.complete(word, len(word)))
        if found or not expected:
            break
    return found


async def test_words_are_completed_by_what_the_program_knows(kernel: Kernel) -> None:
    for word, expected in COMPLETED[kernel.language].items():
        found = await completed(kernel, word, expected)
        assert (len(found) if isinstance(expected, int) else found) == expected, word


async def test_a_look_at_a_value_runs_nothing_of_the_persons(kernel: Kernel) -> None:
    await ran(kernel, SPITEFUL[kernel.language])
    assert "bad" in [one.name for one in await kernel.variables()]
    await kernel.complete("bad.x", 5)
    run = await ran(kernel, "")
    assert (run.ended.status, run.stdout) == ("ok", "")


async def test_the_next_cell_has_its_own_answer(kernel: Kernel) -> None:
    await kernel.variables()
    run = await ran(kernel, "nonsense = = 1")
    assert (run.ended.status, bool(run.error)) == ("error", True)


async def test_a_kernel_that_was_not_started_has_no_variables(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    kernels = DrivenKernels(str(tmp_path_factory.mktemp("fresh")))
    assert (await kernels.get("ruby").variables(), await kernels.get("ruby").complete("pu", 2)) == ((), ())
    await kernels.aclose()


async def test_code_cannot_pass_for_a_question(driven: DrivenKernels) -> None:
    run = await ran(driven.get("ruby"), "\x011 names")
    assert run.error == "ValueError The code begins with a control character."
