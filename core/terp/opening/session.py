"""`build_session`, the one place that builds a session from settings."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from terp.analysis.rules.deciding import Rules
from terp.errors import SettingsError
from terp.models.building import build_model
from terp.models.facts.lookup import known_prices, windows
from terp.opening.chat_session import ChatSession
from terp.opening.environment import ExecutionEnvironment, open_environment
from terp.opening.supplied import GivenEnvironment, Supplied
from terp.person import Person
from terp.secrets.known_secrets import Secrets
from terp.session.context.system_prompt import SystemPrompt
from terp.session.cost.ledger import Ledger, LedgerAccount
from terp.session.resources import Limits, SessionResources
from terp.settings import Settings
from terp.settings.places import find_places
from terp.settings.project.files import Project
from terp.store.places import Place
from terp.text.note_mark import NoteMark, new_word
from terp.tools.functions import SERVICE, service_of
from terp.tools.toolbox import FunctionNames

if TYPE_CHECKING:
    from terp.analysis.rules.rule import Rule
    from terp.checks.until.goal import Goal


async def build_session(
    settings: Settings,
    person: Person,
    *,
    place: Place,
    project: Project,
    environ: Mapping[str, str],
    api_key: str = "",
    supplied: Supplied | None = None,
) -> ChatSession:
    """Build a session from settings; `person` decides about code, and implements `auto_run`.

    No kernel is started. If the settings name no model, one is looked for: by the keys in `environ`, then
    among the servers of this machine, with consent. The model reads the instructions of `project`.
    `supplied` are parts that replace or add to those of the settings. `place` has the folder for
    the session's files, and a `keeper` if the session is stored; the keeper's `stored` session is resumed.

    Raises:
        SettingsError: the model's name has no known provider, or a language is unknown.
        NoModel: no model was found.
        KeyringFailed: the key is in the system's keyring, which did not return it.
        NoSandbox: a sandbox is required, and none works here.
        KernelStartFailed: the kernel to attach to does not answer, or the gateway refuses access.
    """
    supplied = supplied or Supplied()
    with place.closed_on_failure():
        environment = supplied.environment or await open_environment(
            settings, project=project, environ=environ, place=place, supplied=supplied
        )
        kernels, functions = environment.kernels, FunctionNames(environment.toolbox)
        model = supplied.model or await build_model(
            settings,
            kernels.languages,
            cwd=kernels.cwd,
            environ=environment.keyed,
            api_key=api_key,
            functions=functions,
        )
        resources = _resources(settings, environment, place)
        resources.secrets = place.secrets or Secrets(environ, settings, api_key)
        # `place.secrets` may have been built from older settings.
        resources.secrets.use(settings)
        resources.functions = functions
        mark = resources.note_mark = NoteMark(place.keeper.note_word if place.keeper else new_word())
        resources.system_prompt = SystemPrompt(kernels, environment.toolbox, environ, project, mark)
        folder, keeper = place.folder, place.keeper
        session = ChatSession(model, kernels, person, folder=folder, resources=resources, keeper=keeper)
        session.settings = settings
        if keeper is not None:
            session.keep_checkpoints(find_places(environ).state / "checkpoint.key", settings.checkpoint)
        if supplied.functions:
            session.offer(SERVICE, service_of(supplied.functions))
        session.instruct(resources.system_prompt.text(settings), code=settings.code)
        environment.connect(session)
        has_servers = settings.mcp_servers and "python" in kernels.languages
        if has_servers and not isinstance(environment, GivenEnvironment):
            from terp.opening.mcp import open_servers  # noqa: PLC0415  (few sessions have any)

            open_servers(session, environment.kernels, settings.mcp_servers, functions)
        return session


def _resources(
    settings: Settings, environment: "ExecutionEnvironment | GivenEnvironment", place: Place
) -> SessionResources:
    return SessionResources(
        limits=limits_of(settings),
        windows=windows(settings, environment.keyed),
        prices=known_prices(settings, environment.keyed),
        account=_account(settings, place, environment.keyed),
        notices=environment.notices,
        toolbox=environment.toolbox,
        confinement=environment.confinement,
        rules=Rules(written_rules(settings)),
        goal=goal_in(settings),
        watch=watched_in(settings.watch),
        references=settings.references,
        error_values=settings.error_values,
    )


def _account(settings: Settings, place: Place, environ: Mapping[str, str]) -> LedgerAccount | None:
    """Return the account in the ledger, for sessions that are stored or have a monthly limit."""
    # Replies of a recording cost nothing.
    is_replay = bool(settings.replay) and settings.replay_mode != "new"
    if is_replay or not (place.keeper or settings.max_month_usd):
        return None
    return LedgerAccount(Ledger(find_places(environ).usage), settings.profile, place.folder.name)


def limits_of(settings: Settings) -> Limits:
    """Return the limits in the settings."""
    names = (limit.name for limit in fields(Limits))
    return Limits(**{name: getattr(settings, name) for name in names if hasattr(settings, name)})


def written_rules(settings: Settings) -> Sequence["Rule"]:
    """Return the rules in the settings."""
    if not (settings.allow or settings.ask or settings.deny):
        return ()
    from terp.settings.rules import rules_of  # noqa: PLC0415  (few settings have rules)

    return rules_of(settings)


def watched_in(text: str) -> tuple[str, ...]:
    """Return the conditions to watch: the lines of a text.

    Raises:
        SettingsError: one is no Python expression.
    """
    conditions = tuple(condition for line in text.splitlines() if (condition := line.strip()))
    for condition in conditions:
        try:
            compile(condition, "watch", "eval")
        except (SyntaxError, ValueError) as error:
            why = getattr(error, "msg", error)
            raise SettingsError([f"watch: '{condition}' is no Python expression: {why}."]) from None
    return conditions


def goal_in(settings: Settings) -> "Goal | None":
    """Return the check in the settings, if there is one.

    Raises:
        SettingsError: the check is malformed.
    """
    if not settings.until:
        return None
    from terp.checks.until.goal import goal_of  # noqa: PLC0415  (few settings have a check)

    return goal_of(settings)
