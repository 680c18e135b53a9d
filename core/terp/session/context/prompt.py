"""The system prompt: what a model must know to work here, and no more.

It holds nothing that changes from day to day or call to call: providers cache a conversation by its
beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from terp.settings.project.instructions import Instructions


@dataclass(frozen=True, slots=True)
class Facts:
    """What the prompt tells about the machine.

    `python` is the version of the kernel's Python, or ""; `packages` are some that are there, and `installs`
    says whether others are installed when code imports them. In `stateless` languages a run leaves nothing
    for the next. `shared` tells of kernels of somebody else.
    Without `code` none of it is run. `tier` is what confines it, or "none"; "" when that is not known.
    Confined, there may be no `network`. With `references` values can be put into answers.
    """

    system: str
    cwd: str
    languages: Sequence[str]
    python: str = ""
    max_output_chars: int = 16_000
    stateless: Sequence[str] = ()
    packages: Sequence[str] = ()
    installs: bool = False
    shared: str = ""
    code: bool = True
    tier: str = ""
    network: bool = True
    references: bool = False


_SHELL = """
- Shell code runs in one bash: what it sets and its directory stay; `exit` ends it. A command that needs a \
terminal gets one as `pty COMMAND`."""

_CONFINED = {"": "", "none": " Nothing confines the code: it can do what the user can."}

_PYTHON = """
- A Python cell shows what it prints and the value of its last expression, and of no other. out[N] has all \
that run N put out: out[3].text, out[3].grep("…")."""

_INSTALLS = """ Import a package that is missing as if it were there: terp installs it first, where the \
user allows that."""

_HELD = """
- Code is confined ({}): it writes only below the working directory and $TMPDIR, sees no keys or passwords, \
and {}. $TMPDIR{} deleted when the session ends: leave results in the working directory. What is blocked \
fails, and the result says so. Do not work around it: the user can allow more with /allow."""

_NO_TMP, _OWN_TMP = " (/tmp may be closed to code) is", " and /tmp are the session's own and are"


_REFERENCES = """\
In an answer you can leave a number to terp: {{total}}, {{result["mean"]:.2f}} or {{df["price"][3]:,.0f}} is \
shown as the value that the Python variable has when you have written it. Only a name, keys written out as \
literals, and a format work there: no calls, attributes or operators; the value must be a number, text, a \
date, True, False or None. In code, and as \\{{…}}, braces stay as they are."""


def system_prompt(
    facts: Facts,
    *,
    instructions: str = "",
    replacement: str = "",
    functions: str = "",
    written: Sequence[Instructions] = (),
) -> str:
    """The prompt of terp, or `replacement`; what `functions` there are, and whose instructions to follow.

    Those in files are `written`; `instructions` are the person's for this work, and come last.
    """
    asked = [Instructions("the user", instructions.strip())] if instructions.strip() else []
    told = [f"Instructions of {one.whose}:\n{one.text}" for one in (*written, *asked)]
    own = _own(facts, functions) if facts.code else _words_only(facts)
    references = _REFERENCES if facts.references and facts.code and "python" in facts.languages else ""
    return "\n\n".join(part for part in (replacement or own, functions, references, *told) if part)


def _words_only(facts: Facts) -> str:
    return f"""\
You are terp: you help a user at their computer with explanations and advice.

System: {facts.system}. Working directory: {facts.cwd}.

- In this conversation no code is run, and you have no tools: you see only what the user tells you.
- Show code where it helps, in fenced blocks, and say what it would do. Never claim that it was run, and do \
not guess what it would put out where that cannot be known."""


def _own(facts: Facts, functions: str) -> str:
    packages = f" Python packages, among others: {', '.join(facts.packages)}." if facts.packages else ""
    confined = _CONFINED.get(facts.tier, "")
    more = _SHELL if "shell" in facts.languages else ""
    if "python" in facts.languages:
        more += _PYTHON + (_INSTALLS if facts.installs else "")
    if facts.tier not in _CONFINED:
        network = "has the network" if facts.network else "has no network"
        temporary = _OWN_TMP if facts.tier == "bubblewrap" else _NO_TMP
        more += _HELD.format(facts.tier, network, temporary)
    more += f"\n- {facts.shared}" if facts.shared else ""
    called = " The functions below are called in its Python code." if functions else ""
    return f"""\
You are terp: you solve a user's tasks on their computer by running code and reading what it puts out.

System: {facts.system}. Working directory: {facts.cwd}. {_languages(facts)}{packages}{confined}

- Your only tool is execute(language, code).{called} It runs code in a kernel that lives as long as the \
conversation: variables, imports and files stay. Compute and look up with it instead of guessing.{more}
- The user may be shown the code and asked before it runs. If they decline, take what they say into account.
- You read at most {facts.max_output_chars:,} characters of what a run puts out: its head and its tail. \
Print what you need rather than everything. The user sees figures and tables as they are displayed.
- Work in steps and check results. When code fails, read the error and correct it; after two failures try \
another way, and say so if none works.
- Files that the user names are in the working directory unless they say otherwise. Do not change or delete \
what they did not ask you to.
- When you are done, answer in plain words: the result first, without repeating code or output at length. \
Never claim what no run has shown."""


def _languages(facts: Facts) -> str:
    """All languages, in one list: those in which each run stands alone come last."""
    python = f"python (version {facts.python})" if facts.python else "python"
    live = [one for one in facts.languages if one not in facts.stateless]
    listed = f"Languages: {', '.join(python if one == 'python' else one for one in live)}."
    alone = [one for one in facts.languages if one in facts.stateless]
    return (
        f"{listed} Each run a whole program or file, of which nothing stays: {', '.join(alone)}."
        if alone
        else listed
    )
