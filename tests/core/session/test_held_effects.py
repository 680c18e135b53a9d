"""Code starts at once, and the user is asked about its effects, in real kernels."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from terp.analysis.rules.deciding import Rules
from terp.analysis.rules.rule import Verdict, read_rule
from terp.events import Asked, CodeFinished, CodeProposed, Event, Progress, TurnFinished
from terp.events.messages import ToolCall
from terp.events.outputs import PerformedEffect
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.bubblewrap import find_bubblewrap
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.landlock import find_landlock
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Tier
from terp.kernels.sandbox.tiers import failure_to_hold
from terp.person import AutoRun, Choice, Decline, Nobody, Person
from terp.session.session import Session
from terp.testing import ScriptedModel, ScriptedPerson, call, collect
from tests.core.sessions import of, open_session, results

TIERS = {"bubblewrap": find_bubblewrap(os.environ), "Landlock": find_landlock()}
DELETES = "import os\nfor name in sorted(os.listdir('photos')):\n    os.remove(f'photos/{name}')"


def works(tier: Tier | None) -> bool:
    return sys.platform == "linux" and tier is not None and not failure_to_hold(tier)


@pytest.fixture(params=list(TIERS))
def tier(request: pytest.FixtureRequest) -> Tier:
    found = TIERS[request.param]
    if found is None or not works(found):
        pytest.skip(f"{request.param} cannot hold effects here")
    return found


@asynccontextmanager
async def held(
    tmp_path: Path,
    tier: Tier,
    person: Person,
    *codes: str | ToolCall,
    at_once: bool = True,
    unasked: Callable[[], bool] = lambda: False,
    rules: Sequence[tuple[Verdict, str]] = (),
) -> AsyncGenerator[Session, None]:
    """Yield a session whose model calls each of `codes`, in a folder with a file and three pictures."""
    work = tmp_path / "work"
    (work / "photos").mkdir(parents=True)
    (work / "data.csv").write_text("a,b\n")
    for number in range(3):
        (work / "photos" / f"{number}.jpg").touch()
    options = SandboxOptions("workspace", hold=True, at_once=at_once)
    confinement = Confinement(options, str(work), os.environ, unasked, tiers=lambda *_: [tier])
    kernels = LocalKernels(str(work), confinement=confinement)
    model = ScriptedModel(*([call(code) if isinstance(code, str) else code] for code in codes), "done")
    session = open_session(tmp_path, model, kernels, person)
    session.resources.confinement = confinement
    session.resources.rules = Rules([read_rule(verdict, text, "test") for verdict, text in rules])
    try:
        yield session
    finally:
        await session.aclose()


def pictures(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "work" / "photos").iterdir())


async def test_code_that_computes_runs_without_a_question(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson(), "print(sum(range(10)))") as session:
        events = await collect(session, "go")
    assert results(session) == ["45"]
    assert of(Asked, events)[0].kind == "approval"
    assert [one.kind for one in of(Asked, events)[1:]] == []


async def test_the_sandbox_is_described_to_the_user_without_the_questions(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson()) as session:
        assert session.resources.confinement is not None
        described = session.resources.confinement.description
    assert described.startswith(f"Sandbox: {tier.name}")
    assert "the user" not in described.lower()


async def test_a_change_waits_for_consent(tmp_path: Path, tier: Tier) -> None:
    code = "print(open('data.csv', 'w').write('new'))"
    async with held(tmp_path, tier, ScriptedPerson("y"), code) as session:
        events = await collect(session, "go")
    [asked] = [one for one in of(Asked, events) if one.kind == "choice"]
    assert asked.what.endswith("wants to change data.csv.")
    assert (tmp_path / "work" / "data.csv").read_text() == "new"
    assert of(TurnFinished, events)[0].reason == "done"


async def test_a_refused_change_fails_in_the_code_and_does_not_happen(tmp_path: Path, tier: Tier) -> None:
    code = "try:\n    open('data.csv', 'w')\nexcept PermissionError as error:\n    print(error.errno)"
    async with held(tmp_path, tier, ScriptedPerson("n"), code) as session:
        await collect(session, "go")
    assert results(session) == ["1\n[effects: refused to let it change data.csv]"]
    assert (tmp_path / "work" / "data.csv").read_text() == "a,b\n"


async def test_one_answer_covers_a_loop(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("a"), DELETES) as session:
        events = await collect(session, "go")
    assert pictures(tmp_path) == []
    assert [one.what for one in of(Asked, events) if one.kind == "choice"] == [
        "python wants to delete photos/0.jpg."
    ]


async def test_a_second_question_of_a_kind_says_that_more_may_come(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("y", "a"), DELETES) as session:
        events = await collect(session, "go")
    assert [one.what for one in of(Asked, events) if one.kind == "choice"] == [
        "python wants to delete photos/0.jpg.",
        "python wants to delete photos/1.jpg, and maybe more like it.",
    ]


async def test_a_loop_is_counted_while_it_goes_on(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("a"), DELETES) as session:
        events = await collect(session, "go")
    first, *_ = [one for one in of(Progress, events) if one.done]
    assert (first.what, first.done, first.total) == ("delete files below photos/", 2, 0)


async def test_that_answer_ends_with_the_run(tmp_path: Path, tier: Tier) -> None:
    one, two = (f"import os; os.remove('photos/{number}.jpg')" for number in (0, 1))
    async with held(tmp_path, tier, ScriptedPerson("a", "n"), one, two) as session:
        await collect(session, "go")
    assert pictures(tmp_path) == ["1.jpg", "2.jpg"]


class AskedThrice(ScriptedPerson):
    """A user who answers questions; `third` is set at the third one."""

    def __init__(self, *answers: str) -> None:
        super().__init__(*answers)
        self.third = asyncio.Event()
        self._questions = 0

    async def choose(self, choice: Choice) -> str | Decline:
        self._questions += 1
        if self._questions == 3:
            self.third.set()
        return await super().choose(choice)


async def test_a_rule_for_a_thread_of_a_run_that_has_ended_does_not_renew_that_answer(
    tmp_path: Path, tier: Tier
) -> None:
    code = """
import os, threading, time
os.remove('photos/0.jpg')
def late():
    while not os.path.exists('go'):
        time.sleep(0.01)
    open('data.csv', 'w').close()
    os.remove('photos/1.jpg')
threading.Thread(target=late).start()
"""
    person = AskedThrice("a", "r", "n")
    async with held(tmp_path, tier, person, code) as session:
        await collect(session, "go")
        (tmp_path / "work" / "go").touch()
        async with asyncio.timeout(10):
            await person.third.wait()
    assert pictures(tmp_path) == ["1.jpg", "2.jpg"]


async def test_an_answer_about_approved_code_holds_none_of_its_other_effects(
    tmp_path: Path, tier: Tier
) -> None:
    code, person = f"open('data.csv', 'w').close()\n{DELETES}", ScriptedPerson("run", "a")
    rules: list[tuple[Verdict, str]] = [("ask", "writes: ./data.csv")]
    async with held(tmp_path, tier, person, code, at_once=False, rules=rules) as session:
        await collect(session, "go")
    assert pictures(tmp_path) == []


async def test_new_files_of_the_working_directory_are_free(tmp_path: Path, tier: Tier) -> None:
    code = "import os\nos.mkdir('out')\nfor _ in 'ab':\n    open('out/a', 'w').close()\nos.remove('out/a')"
    async with held(tmp_path, tier, ScriptedPerson(), code) as session:
        events = await collect(session, "go")
    assert [one for one in of(Asked, events) if one.kind == "choice"] == []
    assert of(CodeFinished, events)[0].status == "ok"


TRUSTED = (
    ".envrc",
    ".vscode/tasks.json",
    "sub/.mcp.json",
    "sub/.git/hooks/pre-commit",
    ".git/modules/lib/hooks/post-checkout",
    "sitecustomize.py",
    ".venv/bin/ls",
    "shop/__pycache__/prices.cpython-311.pyc",
)
WRITES_ONE = (
    "import os\npath = {!r}\nos.makedirs(os.path.dirname(path) or '.', exist_ok=True)\nopen(path, 'w')"
)
MOVES_ONE = "import os\nopen('new', 'w').close()\nos.rename('new', '.envrc')"


@pytest.mark.parametrize("code", [*map(WRITES_ONE.format, TRUSTED), MOVES_ONE, "!git init -q ."])
async def test_new_files_that_other_programs_trust_are_asked_about(
    tmp_path: Path, tier: Tier, code: str
) -> None:
    async with held(tmp_path, tier, ScriptedPerson("n"), code) as session:
        events = await collect(session, "go")
    assert [one.kind for one in of(Asked, events)][1:2] == ["choice"]
    work = tmp_path / "work"
    left = [
        path for path in work.rglob("*") if path.is_file() and path.relative_to(work).parts[0] != "photos"
    ]
    assert sorted(path.name for path in left if path.name != "new") == ["data.csv"]


async def test_one_answer_covers_a_new_repository(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("a"), "!git init -q . && echo done") as session:
        events = await collect(session, "go")
    assert [one.what for one in of(Asked, events) if one.kind == "choice"] == ["git wants to create .git."]
    assert results(session)[0].startswith("done\n")


async def test_caches_of_tools_are_free_and_python_leaves_no_bytecode(tmp_path: Path, tier: Tier) -> None:
    code = "open('mod.py', 'w').write('x = 1')\nimport mod\nopen('.pytest_cache/seen', 'w')"
    async with held(tmp_path, tier, ScriptedPerson(), code) as session:
        (tmp_path / "work" / ".pytest_cache").mkdir()
        (tmp_path / "work" / ".pytest_cache" / "seen").write_text("old")
        events = await collect(session, "go")
    assert [one for one in of(Asked, events) if one.kind == "choice"] == []
    assert of(CodeFinished, events)[0].status == "ok"
    assert not (tmp_path / "work" / "__pycache__").exists()


async def test_looking_at_a_repository_is_free(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson(), "!git status --short") as session:
        _git(tmp_path / "work", "init", "-q")
        _git(tmp_path / "work", "add", ".")
        (tmp_path / "work" / "data.csv").touch()
        events = await collect(session, "go")
    assert [one for one in of(Asked, events) if one.kind == "choice"] == []
    assert "A  data.csv" in results(session)[0]


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(("git", *arguments), cwd=folder, check=True)


async def test_children_and_shell_code_are_held_too(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("n"), "!rm photos/0.jpg") as session:
        await collect(session, "go")
    assert pictures(tmp_path) == ["0.jpg", "1.jpg", "2.jpg"]


async def test_without_a_user_effects_are_refused_and_the_rest_is_kept(tmp_path: Path, tier: Tier) -> None:
    codes = ("x = 41 + 1", f"{DELETES}", "print(x)")
    async with held(tmp_path, tier, Nobody(), *codes) as session:
        events = await collect(session, "go")
    assert pictures(tmp_path) == ["0.jpg", "1.jpg", "2.jpg"]
    assert results(session)[2] == "42"
    finished = of(TurnFinished, events)[0]
    assert (finished.reason, finished.answer) == ("approval_needed", "done")
    assert finished.remedy == "Run terp on a terminal, or allow it by --allow 'deletes: ./photos/**'."


async def test_the_account_has_what_happened(tmp_path: Path, tier: Tier) -> None:
    code = "open('data.csv', 'a').close()\n!/bin/true"
    async with held(tmp_path, tier, ScriptedPerson("y"), code) as session:
        events = await collect(session, "go")
    effects = of(CodeFinished, events)[0].effects
    changed = PerformedEffect("modify", str(tmp_path / "work" / "data.csv"))
    assert changed in effects
    assert "true" in [effect.what for effect in effects if effect.verb == "run"]


async def test_what_children_changed_in_a_text_file_is_a_diff_of_each_run(tmp_path: Path, tier: Tier) -> None:
    codes = [f"!f=data; sed -i s/{old}/{new}/ $f.csv" for old, new in ("ab", "bc")]
    async with held(tmp_path, tier, Nobody(), *codes, rules=[("allow", "writes: ./**")]) as session:
        (tmp_path / "work" / "data.csv").write_text("a\n")
        events = await collect(session, "go")
    diffs = [one.diff for finished in of(CodeFinished, events) for one in finished.files]
    assert diffs == ["@@ -1 +1 @@\n-a\n+b", "@@ -1 +1 @@\n-b\n+c"]


async def test_code_that_was_approved_before_is_not_asked_about_its_effects(
    tmp_path: Path, tier: Tier
) -> None:
    async with held(tmp_path, tier, ScriptedPerson("run"), DELETES, at_once=False) as session:
        events = await collect(session, "go")
    assert pictures(tmp_path) == []
    assert [one.kind for one in of(Asked, events)] == ["approval"]


async def test_code_that_runs_unasked_is_bound_by_what_rules_deny(tmp_path: Path, tier: Tier) -> None:
    rules: list[tuple[Verdict, str]] = [("deny", "deletes: ./photos/**")]
    code = "import os\nos.remove('data.csv')\nos.remove('photos/0.jpg')"
    options = {"at_once": False, "unasked": lambda: True, "rules": rules}
    async with held(tmp_path, tier, AutoRun(), code, **options) as session:  # type: ignore[arg-type]
        await collect(session, "go")
    assert pictures(tmp_path) == ["0.jpg", "1.jpg", "2.jpg"]
    assert not (tmp_path / "work" / "data.csv").exists()


async def test_a_rule_on_paths_allows_what_it_names(tmp_path: Path, tier: Tier) -> None:
    rules: list[tuple[Verdict, str]] = [("allow", "deletes: ./photos/1.*")]
    code = "import os\nfor name in ('1.jpg', '2.jpg'):\n    os.remove(f'photos/{name}')"
    async with held(tmp_path, tier, ScriptedPerson("n"), code, rules=rules) as session:
        await collect(session, "go")
    assert pictures(tmp_path) == ["0.jpg", "2.jpg"]


async def test_a_rule_on_effects_starts_code_but_allows_no_other_effect(tmp_path: Path, tier: Tier) -> None:
    rules: list[tuple[Verdict, str]] = [("allow", "effects: none")]
    # The account of the second cell cannot know what the first has done to its name.
    codes = ("import math, os\nmath.sqrt = os.remove", "import math\nmath.sqrt('photos/0.jpg')")
    person = ScriptedPerson("run", "n")
    async with held(tmp_path, tier, person, *codes, at_once=False, rules=rules) as session:
        events = await collect(session, "go")
    assert [one.kind for one in of(Asked, events)] == ["approval", "approval", "choice"]
    assert len(person.shown) == 1
    assert pictures(tmp_path) == ["0.jpg", "1.jpg", "2.jpg"]


async def test_a_rule_that_is_added_at_a_question_counts_for_the_session(tmp_path: Path, tier: Tier) -> None:
    one, two = (f"import os; os.remove('photos/{number}.jpg')" for number in (0, 1))
    async with held(tmp_path, tier, ScriptedPerson("r"), one, two) as session:
        await collect(session, "go")
    assert [rule.text for rule in session.resources.rules.added] == ["deletes: ./photos/**"]
    assert pictures(tmp_path) == ["2.jpg"]


@pytest.mark.parametrize("program", ["true", "/bin/true", "/usr/bin/t*"])
async def test_a_program_that_a_rule_denies_does_not_start(tmp_path: Path, tier: Tier, program: str) -> None:
    code = (
        "import subprocess\ntry:\n    subprocess.run(['/bin/true'])\nexcept PermissionError:\n    print('no')"
    )
    rules: list[tuple[Verdict, str]] = [("deny", f"programs: {program}")]
    async with held(tmp_path, tier, ScriptedPerson(), code, rules=rules) as session:
        await collect(session, "go")
    assert results(session) == ["no\n[effects: refused to let it start true]"]


async def test_a_program_that_a_rule_asks_about_is_asked_about(tmp_path: Path, tier: Tier) -> None:
    code = "import subprocess\nfor _ in 'ab':\n    print(subprocess.run(['true']).returncode)"
    rules: list[tuple[Verdict, str]] = [("ask", "programs: true")]
    async with held(tmp_path, tier, ScriptedPerson("a"), code, rules=rules) as session:
        events = await collect(session, "go")
    [asked] = [one for one in of(Asked, events) if one.kind == "choice"]
    assert (asked.what, list(asked.options)) == ("python wants to start true.", ["y", "a", "n"])
    assert results(session) == ["0\n0\n[effects: started true ×2]"]


async def test_a_program_in_memory_may_be_one_that_a_rule_is_about(tmp_path: Path, tier: Tier) -> None:
    code = (
        "import os, subprocess\nfd = os.memfd_create('x', 0)\nos.write(fd, open('/bin/true', 'rb').read())\n"
        "try:\n    subprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd])\n"
        "except PermissionError:\n    print('no')"
    )
    rules: list[tuple[Verdict, str]] = [("deny", "programs: curl")]
    async with held(tmp_path, tier, ScriptedPerson("n"), code, rules=rules) as session:
        events = await collect(session, "go")
    assert len([one for one in of(Asked, events) if one.kind == "choice"]) == 1
    assert "no" in results(session)[0]


class Waiting(ScriptedPerson):
    """A user who does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def choose(self, choice: object) -> str:
        self.asked.set()
        await asyncio.Event().wait()
        return ""


async def test_an_interrupt_ends_a_question_and_keeps_the_variables(tmp_path: Path, tier: Tier) -> None:
    person = Waiting()
    async with held(tmp_path, tier, person, "x = 7\nopen('data.csv', 'w')", "print(x)") as session:
        async with aclosing(session.turn("go")) as events:
            turn = asyncio.ensure_future(_all(events))
            await person.asked.wait()
            await session.interrupt()
            finished = of(TurnFinished, await turn)
        await collect(session, "again")
    assert finished[0].reason == "interrupted"
    assert results(session)[-1] == "7"
    assert (tmp_path / "work" / "data.csv").read_text() == "a,b\n"


async def _all(events: AsyncGenerator[Event, None]) -> list[Event]:
    return [event async for event in events]


async def test_a_kernel_that_was_started_without_a_holder_runs_nothing_unasked(
    tmp_path: Path, tier: Tier
) -> None:
    person = ScriptedPerson("run", "run")
    async with held(tmp_path, tier, person, "1", "2") as session:
        confinement = session.resources.confinement
        assert confinement is not None
        confinement.options = SandboxOptions("workspace")
        await session.kernels.get("python").start()
        confinement.options = SandboxOptions("workspace", hold=True, at_once=True)
        events = await collect(session, "go")
    assert [one.asks for one in person.shown] == ["the effects of code in this kernel cannot be held"] * 2
    assert len(of(CodeProposed, events)) == 4


CHANGING = {
    "shell": "echo x > data.csv; rm photos/0.jpg; sed -i s/a/b/ notes.txt; mv photos/1.jpg m; echo y > new",
    "python": """
import os, subprocess
subprocess.run(['sh', '-c', 'echo x > data.csv; rm photos/0.jpg'])
os.rename('photos', 'p')
open('notes.txt', 'w').close()
""",
}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("language", CHANGING)
async def test_a_rewind_restores_the_files_that_code_of_any_language_has_changed(
    tmp_path: Path, tier: Tier, language: str
) -> None:
    person = ScriptedPerson(*"a" * 9)
    async with held(tmp_path, tier, person, call("x = 1"), call(CHANGING[language], language)) as session:
        (tmp_path / "work" / "notes.txt").write_text("a note\0")
        before = content(tmp_path / "work")
        await collect(session, "go")
        assert content(tmp_path / "work") != before
        changed = await session.rewind.changed_files(1)
        assert [one for one in changed if not one.restorable] == []
        taken = await session.rewind.restore(1, [one.path for one in changed])
    assert (taken.files_lost, content(tmp_path / "work")) == ((), before)


async def test_of_a_file_that_two_kernels_have_changed_the_earliest_state_returns(
    tmp_path: Path, tier: Tier
) -> None:
    codes = (
        call("open('data.csv', 'a').write('python')"),
        call("echo shell >> data.csv; rm -r photos; mkdir new", "shell"),
        call("open('data.csv', 'a').write('python again'); open('new/a', 'w').close()"),
    )
    async with held(tmp_path, tier, ScriptedPerson(*"a" * 9), *codes) as session:
        before = content(tmp_path / "work")
        await collect(session, "go")
        changed = await session.rewind.changed_files(1)
        taken = await session.rewind.restore(1, [one.path for one in changed])
    assert (taken.files_lost, content(tmp_path / "work")) == ((), before)
    assert not (tmp_path / "work" / "new").exists()


async def test_a_file_that_one_kernel_made_and_another_deleted_is_not_named(
    tmp_path: Path, tier: Tier
) -> None:
    codes = (call("echo 1 > new.csv", "shell"), call("import os; os.remove('new.csv')"))
    async with held(tmp_path, tier, ScriptedPerson("a"), *codes) as session:
        await collect(session, "go")
        changed = await session.rewind.changed_files(1)
        taken = await session.rewind.restore(1, [one.path for one in changed])
    assert (changed, taken.files, taken.files_lost) == ([], (), ())


async def test_files_stay_as_they_are_without_the_wish(tmp_path: Path, tier: Tier) -> None:
    async with held(tmp_path, tier, ScriptedPerson("a"), DELETES) as session:
        await collect(session, "go")
        taken = await session.rewind.restore(1)
    assert (taken.files, pictures(tmp_path)) == ((), [])
    assert [Path(path).name for path, _ in taken.files_lost] == ["0.jpg", "1.jpg", "2.jpg"]


async def test_a_kernel_that_was_restarted_has_no_copies_from_before(tmp_path: Path, tier: Tier) -> None:
    codes = ("open('data.csv', 'w').write('1')", "open('data.csv', 'w').write('2')")
    async with held(tmp_path, tier, ScriptedPerson("a", "a"), *codes) as session:
        turn, restarts = session.turn("go"), [1]
        async with aclosing(turn):
            async for event in turn:
                if isinstance(event, CodeFinished) and restarts.pop():
                    restarts.append(0)
                    await session.kernels.get("python").restart()
        changed = await session.rewind.changed_files(1)
    assert [(Path(one.path).name, one.why) for one in changed] == [("data.csv", "no copy of it was saved")]


async def test_after_a_rewind_no_file_counts_as_made_by_the_code(tmp_path: Path, tier: Tier) -> None:
    person = ScriptedPerson("a", "n")
    codes = (
        call("import os; os.remove('data.csv'); open('data.csv', 'w').close()"),
        call("try:\n    open('data.csv', 'w')\nexcept PermissionError:\n    print('asked')"),
    )
    async with held(tmp_path, tier, person, codes[0]) as session:
        await collect(session, "go")
        await session.rewind.restore(1, [one.path for one in await session.rewind.changed_files(1)])
        session.model = ScriptedModel([codes[1]], "done")
        await collect(session, "go")
    assert results(session)[0].startswith("asked\n")
    assert (tmp_path / "work" / "data.csv").read_text() == "a,b\n"


async def test_pipelines_of_a_shell_that_does_not_restart_calls_end(tmp_path: Path, tier: Tier) -> None:
    code = "%%bash\nfor i in $(seq 40); do sh -c 'echo abc | cat | cat' || echo failed; done | sort | uniq -c"
    async with held(tmp_path, tier, ScriptedPerson(), code) as session:
        await collect(session, "go")
    assert results(session)[0].split()[:2] == ["40", "abc"]
