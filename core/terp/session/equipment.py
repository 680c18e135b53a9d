"""What a session has besides model, kernels and person: set by whoever puts the session together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from terp.analysis.rules.deciding import Rules
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.kernels.environments.choosing import PythonChoice
    from terp.kernels.environments.missing import MissingPackages
    from terp.kernels.sandbox.confinement import Confinement
    from terp.secrets.known_secrets import Secrets
    from terp.secrets.scrubbing import Scrubber
    from terp.session.attaching import Attaching
    from terp.session.context.briefing import Briefing
    from terp.tools.mcp.servers import Servers


@dataclass(slots=True)
class Equipment:
    """What settings give the code of a session, and the model's knowledge of it.

    `pythons` decides about the Python that runs the code, `packages` installs into it and `confinement` holds
    the code back; they are None where kernels run elsewhere. `attaching` exchanges kernels for those of
    somebody else. `briefing` makes the system prompt of settings. `secrets` are written down by nothing. The
    functions of `toolbox` and `servers` are in the Python kernel, and run when the model calls them as tools,
    by one of the names in `functions`. `rules` decide about code before the person is asked. `goal`
    is read by `terp.checks.until` alone: turns that its `ask` begins continue until that check has passed.

    `outside` are tools, by name and in OpenAI's form, that whoever asks runs themselves: the model is offered
    them too, and a reply that calls one ends its turn. In the session's `history` the call has a result then
    that says it did not run; with the true one in its place the session can `go_on`. `demands` are
    fields of each request, such as `response_format`, in OpenAI's form. With `references`, values of
    variables are put into answers that refer to them; with `error_values` the model reads those at the line
    where code failed.
    """

    pythons: "PythonChoice | None" = None
    packages: "MissingPackages | None" = None
    briefing: "Briefing | None" = None
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
    references: bool = False
    error_values: bool = True

    def scrubber(self) -> "Scrubber":
        """What takes them out of text; without any known ones, what looks like one."""
        if self.secrets is not None:
            return self.secrets.scrubber()
        from terp.secrets.scrubbing import Scrubber  # noqa: PLC0415  (for who puts a session together alone)

        return Scrubber()

    def without_secrets(self, text: str) -> str:
        """The text as it may be written down."""
        return self.scrubber().redacted(text)

    async def aclose(self) -> None:
        """End what runs for the session."""
        if self.servers is not None:
            await self.servers.aclose()
