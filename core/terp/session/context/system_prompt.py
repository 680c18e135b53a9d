"""The system prompt: the facts that a model needs to work here, and no more.

It holds nothing that changes from day to day or call to call: providers cache a conversation by its
beginning.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from terp.events.kernel import Kernels
from terp.kernels.attached.attachment import KernelAttachment
from terp.kernels.environments.choosing import wanted_python
from terp.session.attaching import note_for_model
from terp.settings import Settings
from terp.settings.interpreter import present_packages, version_of
from terp.settings.places import find_places
from terp.settings.project.files import Instructions, Project, written_instructions
from terp.text.dataclasses import dataclass, field
from terp.text.note_mark import NoteMark
from terp.tools.toolbox import Toolbox

_NOTABLE = ("numpy", "pandas", "polars", "scipy", "sklearn", "matplotlib", "seaborn", "plotly", "torch")
"""Packages that the prompt names if they are installed, by their import names."""


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """The facts about the machine and the session that the prompt states.

    `python` is the version of the kernel's Python, or "". `packages` are some that are installed; if
    `installs`, others are installed when code imports them. In `stateless` languages a run leaves nothing for
    the next. `shared` is a text about kernels of other programs. Without `code`, no code runs. `tier` is the
    sandbox, "none", or "" if it is not known; `network` says if code in a sandbox has the network. With
    `references`, answers can hold references to values.
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

_CONFINED = {"": "", "none": " There is no sandbox: the code can do what the user can."}

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


def prompt_text(
    facts: PromptFacts,
    *,
    instructions: str = "",
    replacement: str = "",
    functions: str = "",
    written: Sequence[Instructions] = (),
    mark: NoteMark | None = None,
) -> str:
    """Return the prompt of terp, or `replacement`, followed by `functions` and instructions.

    The mark comes last: providers cache the beginning for sessions of any mark.

    `written` are the instructions in files; `instructions` are the user's own setting, and come last.
    """
    asked = [Instructions("the user", instructions.strip())] if instructions.strip() else []
    labelled = [f"Instructions of {one.whose}:\n{one.text}" for one in (*written, *asked)]
    own = _own(facts, functions) if facts.code else _words_only(facts)
    references = _REFERENCES if facts.references and facts.code and "python" in facts.languages else ""
    parts = (replacement or own, functions, references, *labelled, (mark or NoteMark()).explanation)
    return "\n\n".join(part for part in parts if part)


def _words_only(facts: PromptFacts) -> str:
    return f"""\
You are terp: you help a user at their computer with explanations and advice.

System: {facts.system}. Working directory: {facts.cwd}.

- In this conversation no code is run, and you have no tools: you see only what the user tells you.
- Show code where it helps, in fenced blocks, and say what it would do. Never claim that it was run, and do \
not guess what it would put out where that cannot be known."""


def _own(facts: PromptFacts, functions: str) -> str:
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


def _languages(facts: PromptFacts) -> str:
    """Return all languages in one sentence, the stateless ones last."""
    python = f"python (version {facts.python})" if facts.python else "python"
    live = [one for one in facts.languages if one not in facts.stateless]
    listed = f"Languages: {', '.join(python if one == 'python' else one for one in live)}."
    stateless = [one for one in facts.languages if one in facts.stateless]
    if not stateless:
        return listed
    return f"{listed} Each run a whole program or file, of which nothing stays: {', '.join(stateless)}."


class PromptKernels(Kernels, Protocol):
    """Kernels with all properties that the prompt states."""

    @property
    def network(self) -> bool:
        """True if code in the sandbox has the network."""

    @property
    def attached(self) -> Mapping[str, KernelAttachment]:
        """The kernels of other programs, by language."""

    @property
    def stateless(self) -> Sequence[str]:
        """The languages in which a run leaves nothing for the next."""


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """Makes the system prompt of one session, whose settings may change."""

    kernels: PromptKernels
    toolbox: Toolbox
    environ: Mapping[str, str]
    project: Project
    mark: NoteMark = field(default_factory=NoteMark)

    def text(self, settings: Settings) -> str:
        """Return the whole prompt; equal settings give equal text, as long as no file is changed.

        Raises:
            SettingsError: the user's own file of instructions cannot be read.
        """
        # Functions can only be called in code.
        functions = self.toolbox.for_model(shipped=not settings.system_message) if settings.code else ""
        return prompt_text(
            self._facts(settings),
            instructions=settings.instructions,
            replacement=settings.system_message,
            functions=functions,
            written=written_instructions(find_places(self.environ), self.project),
            mark=self.mark,
        )

    def _facts(self, settings: Settings) -> PromptFacts:
        if self.kernels.elsewhere:
            return self._facts_elsewhere(settings)
        wanted = wanted_python(settings.python, self.environ, self.kernels.cwd, self.project.python)
        python = wanted.path if wanted else sys.executable
        asked_for = [name for name in settings.packages if name not in _NOTABLE]
        packages = (*present_packages(python, _NOTABLE), *asked_for)
        attached = self.kernels.attached
        theirs = attached.get("python")
        return PromptFacts(
            system="{0.sysname} {0.machine}".format(os.uname()),
            cwd=self.kernels.cwd,
            languages=self.kernels.languages,
            python=theirs.version if theirs else version_of(python),
            max_output_chars=settings.max_output_chars,
            stateless=self.kernels.stateless,
            packages=() if theirs else packages,
            installs=not theirs and settings.auto_install != "never",
            shared=" ".join(note_for_model(one, language) for language, one in attached.items()),
            code=settings.code,
            tier=self.kernels.get(self.kernels.languages[0]).tier,
            network=self.kernels.network,
            references=settings.references,
        )

    def _facts_elsewhere(self, settings: Settings) -> PromptFacts:
        """Return the facts known before anything runs on the gateway's machine."""
        return PromptFacts(
            system=f"another machine than the user's, behind the Jupyter gateway {self.kernels.elsewhere}; "
            "of the user's own files only those are there that they attach",
            cwd="that of the kernel",
            languages=self.kernels.languages,
            max_output_chars=settings.max_output_chars,
            stateless=self.kernels.stateless,
            code=settings.code,
            tier=self.kernels.get(self.kernels.languages[0]).tier,
            references=settings.references,
        )
