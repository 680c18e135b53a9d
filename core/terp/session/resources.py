"""The settings and services that a session's parts read at each use."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from terp.analysis.rules.deciding import Rules
from terp.models.facts.model_facts import ModelFacts, Window, list_price
from terp.secrets.redactor import Redactor
from terp.text.dataclasses import dataclass, field
from terp.text.note_mark import NoteMark
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.analysis.effects.known import Bound
    from terp.kernels.environments.choosing import PythonChoice
    from terp.kernels.environments.missing import MissingPackages
    from terp.kernels.sandbox.confinement import Confinement
    from terp.secrets.known_secrets import Secrets
    from terp.session.attaching import Attaching
    from terp.session.context.system_prompt import SystemPrompt
    from terp.session.cost.ledger import LedgerAccount
    from terp.tools.mcp.servers import Servers


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a session; 0 means no limit unless it says otherwise."""

    max_steps: int = 50
    """Model replies in one turn before it stops."""
    max_budget_usd: float = 0.0
    """Cost of the session in USD, as the next two. With any of them, every model needs a known price."""
    max_turn_usd: float = 0.0
    """Cost of one turn."""
    max_month_usd: float = 0.0
    """Cost of all sessions of the profile in a calendar month."""
    run_timeout_s: float = 0.0
    """Seconds that one run may take before it is interrupted."""
    background_after_s: float = 0.0
    """Seconds after which a run becomes a background job."""
    max_output_chars: int = 16_000
    """Characters of one run's output that the model reads: head and tail. At least 200."""
    max_failures: int = 3
    """Equal errors, or replies with malformed calls, in a row before a turn stops. It is no setting."""


class PromptPart(Protocol):
    """A part of the system prompt that can change between requests."""

    async def text(self) -> str:
        """Return the part as it is now, or ""; called before each request of a turn."""


@dataclass(slots=True)
class SessionResources:
    """All that a session has besides its model, kernels and person. Fields may be replaced between turns.

    `windows` and `prices` take a model's name. `account` is where the cost of calls is written. `pythons`
    chooses the Python that runs the code, `packages` installs into it, and `confinement` is its sandbox; they
    are None if kernels run elsewhere. `attaching` exchanges kernels for those of other programs.
    `system_prompt` makes the system prompt from settings, and `prompt_parts` follow it. `notices` are lines
    for the user, to be shown when the session opens. `secrets` are redacted from all that is stored. The
    functions of `toolbox` and `servers` are in the Python kernel; calls of them as tools, by one of the names
    in `functions`, run as code there. `rules` decide about code before the user is asked. Only
    `terp.checks.until` reads `goal`: turns that its `ask` starts continue until that check has passed. A turn
    stops when a run breaks a condition of `watch`.

    `outside` are further tools, by name and in OpenAI's form, that the client runs itself: a reply that calls
    one ends its turn. The `history` then says that the call did not run, until the client replaces that by
    the true result and calls `continue_turn`. `demands` are fields of each request in OpenAI's form, such as
    `response_format`. With `references`, answers can refer to values of variables; with `error_values`, the
    model reads the values at the line where code failed. `note_mark` marks terp's notes to the model.
    `bound` are the names in a Python kernel whose user has run code of their own since the last turn.
    """

    limits: Limits = field(default_factory=Limits)
    windows: Callable[[str], Window] = lambda _: Window()
    prices: Callable[[str], ModelFacts] = list_price
    account: "LedgerAccount | None" = None
    pythons: "PythonChoice | None" = None
    packages: "MissingPackages | None" = None
    system_prompt: "SystemPrompt | None" = None
    prompt_parts: Sequence[PromptPart] = ()
    notices: tuple[str, ...] = ()
    toolbox: Toolbox = field(default_factory=Toolbox)
    servers: "Servers | None" = None
    confinement: "Confinement | None" = None
    attaching: "Attaching | None" = None
    secrets: "Secrets | None" = None
    functions: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    outside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    demands: Mapping[str, Any] = field(default_factory=dict)
    goal: object | None = None
    watch: tuple[str, ...] = ()
    references: bool = False
    error_values: bool = True
    note_mark: NoteMark = field(default_factory=NoteMark)
    bound: "Bound | None" = None

    def redactor(self) -> "Redactor":
        """Return the redactor of the known secrets; without any, of texts that look like secrets."""
        if self.secrets is not None:
            return self.secrets.redactor()
        return Redactor()

    def redacted(self, text: str) -> str:
        """Return the text without secrets, as it may be stored."""
        return self.redactor().redacted(text)

    async def aclose(self) -> None:
        """Stop the MCP servers."""
        if self.servers is not None:
            await self.servers.aclose()
