"""The system prompt: what a model must know to work here, and no more.

It holds nothing that changes from day to day or call to call: providers cache a conversation by its
beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from terp.instructions import Instructions


@dataclass(frozen=True, slots=True)
class Facts:
    """What the prompt tells about the machine.

    `python` is the version of the kernel's Python, or ""; `packages` are those that were asked for. In
    `stateless` languages a run leaves nothing for the next. `shared` tells of kernels of somebody else.
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
    shared: str = ""
    code: bool = True
    tier: str = ""
    network: bool = True
    references: bool = False


_SHELL = """
- Shell code runs in one bash: what it sets and its directory stay; `exit` ends it. A command that needs a \
terminal gets one as `pty COMMAND`."""

_CONFINED = {"": "", "none": " Nothing confines the code: it can do what the user can."}

_STATELESS = """
- In {} each run is a whole program or file: nothing stays there."""

_HELD = """
- Code is confined ({}): it writes only below the working directory and $TMPDIR, sees no keys or passwords, \
and {}. /tmp may be a folder of its own that nobody else sees: leave results in the working directory. What \
is blocked fails, and the result says so. Do not work around it: the user can allow more with /allow."""


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
    own = _own(facts) if facts.code else _words_only(facts)
    references = _REFERENCES if facts.references and facts.code and "python" in facts.languages else ""
    return "\n\n".join(part for part in (replacement or own, functions, references, *told) if part)


def _words_only(facts: Facts) -> str:
    return f"""\
You are terp: you help a user at their computer with explanations and advice.

System: {facts.system}. Working directory: {facts.cwd}.

- In this conversation no code is run, and you have no tools: you see only what the user tells you.
- Show code where it helps, in fenced blocks, and say what it would do. Never claim that it was run, and do \
not guess what it would put out where that cannot be known."""


def _own(facts: Facts) -> str:
    python = f"python (version {facts.python})" if facts.python else "python"
    packages = f" Python packages that are there: {', '.join(facts.packages)}." if facts.packages else ""
    languages = ", ".join(python if language == "python" else language for language in facts.languages)
    confined = _CONFINED.get(facts.tier, "")
    shell = _SHELL if "shell" in facts.languages else ""
    closed = "has the network" if facts.network else "has no network"
    shell += "" if facts.tier in _CONFINED else _HELD.format(facts.tier, closed)
    shared = f"\n- {facts.shared}" if facts.shared else ""
    more = shell + shared + (_STATELESS.format(", ".join(facts.stateless)) if facts.stateless else "")
    return f"""\
You are terp: you solve a user's tasks on their computer by running code and reading what it puts out.

System: {facts.system}. Working directory: {facts.cwd}. Languages: {languages}.{packages}{confined}

- Your only tool is execute(language, code). It runs code in a kernel that lives as long as the \
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
