"""Other settings for a session that goes on: what they change at once, and what only the next one takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import options_of
from terp.models.building import build_model, provider_of, settings_for
from terp.models.facts.known_prices import known_prices
from terp.models.facts.windows import windows
from terp.opening.environment import install_policy
from terp.opening.session import goal_in, limits_of, written_rules
from terp.secrets.keys import with_keys
from terp.session.between_runs import restart_kernel
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.setting import table
from terp.tools.offering import offer_tools

_PROMPT = frozenset(
    {"code", "instructions", "max_output_chars", "packages", "python", "references", "system_message"}
)
_LIMITS = frozenset(
    {
        "background_after_s",
        "max_budget_usd",
        "max_month_usd",
        "max_output_chars",
        "max_steps",
        "max_turn_usd",
        "run_timeout_s",
    }
)
_PACKAGES = frozenset({"auto_install", "auto_run", "packages"})
_SEARCH = frozenset({"search_provider", "search_url"})
_KERNELS = frozenset({"env_pass", "python"})
_RULES = frozenset({"allow", "ask", "deny"})
_SANDBOX = frozenset(
    {
        "docker_image",
        "max_file_mb",
        "max_processes",
        "memory_limit_mb",
        "network",
        "sandbox",
        "sandbox_required",
    }
)
_GOAL = frozenset({"max_revisions", "until", "until_protect", "until_timeout_s"})
_AT_ONCE = (
    _GOAL | _PROMPT | _LIMITS | _PACKAGES | _SEARCH | _KERNELS | _RULES | _SANDBOX | {"session_quota_mb"}
)


@dataclass(frozen=True, slots=True)
class Change:
    """From the settings `before` to those `after` it."""

    before: Settings
    after: Settings

    @property
    def names(self) -> tuple[str, ...]:
        """The settings whose values differ."""
        return tuple(one for one in table(Settings) if getattr(self.before, one) != getattr(self.after, one))

    @property
    def later(self) -> tuple[str, ...]:
        """Those of them that are looked at only when a session begins."""
        at_once = _AT_ONCE | _of_the_model()
        # Without a Python of one's own the surroundings are asked, and perhaps the person.
        waiting = {"python"} if not self.after.python else set()
        return tuple(name for name in self.names if name not in at_once or name in waiting)

    @property
    def is_any(self) -> bool:
        """Whether anything differs, if only the profile for which money is spent."""
        return bool(self.names) or self.before.profile != self.after.profile

    def touches(self, names: Iterable[str]) -> bool:
        """Whether one of these settings differs, and counts at once."""
        return any(name in self.names and name not in self.later for name in names)


def started_anew(session: Session, change: Change) -> tuple[Kernel, ...]:
    """The kernels that run and have to start anew for the change to reach them; their variables are lost."""
    kernels = [session.kernels.get(language) for language in session.kernels.languages]
    # One kernel may serve several languages, and need not be hashable; that of SQL lives in Python's. Those
    # of somebody else stay as they are.
    running = [one for one in {id(one): one for one in kernels}.values() if one.generation and not one.place]
    if any(kernel.language == "python" for kernel in running):
        running = [kernel for kernel in running if kernel.language != "sql"]
    if change.touches({"env_pass"}) or _is_held_otherwise(session, change):
        return tuple(running)
    return tuple(kernel for kernel in running if kernel.language == "python" and change.touches({"python"}))


async def change_settings(
    session: Session, change: Change, environ: Mapping[str, str], *, api_key: str = ""
) -> None:
    """Let the session go on with other settings, but for those that come `later`.

    Whether code runs unasked is decided by the session's person, and changed there. `api_key` is one that was
    given for the provider of the model that answers now.

    Raises:
        SettingsError: the model's name says no provider, or a file of instructions cannot be read.
        KernelError: there is no such Python, or a kernel does not start again.
        NoSandbox: a sandbox is required now, and none works here; nothing has changed.
    """
    _check_sandbox(session, change)
    restarted, after = started_anew(session, change), change.after
    system_prompt = session.resources.system_prompt
    if system_prompt is not None:
        # What cannot be read fails here, where nothing has changed.
        system_prompt.text(after)
    if change.touches(_of_the_model() | {"code"}):
        await _change_model(session, change, environ, api_key)
    _keep_in_mind(session, change)
    if change.touches({"python"}) and session.resources.pythons is not None:
        await session.resources.pythons.use(after.python)
    if change.touches(_PACKAGES) and session.resources.packages is not None:
        session.resources.packages.want(install_policy(after), after.packages)
    if change.touches(_SEARCH):
        held = session.resources.confinement
        environ = with_keys(environ, after.model, *after.fallback_models)
        offer_tools(session, session.dialog, after, environ, lambda: held is None or held.network)
    if isinstance(session.kernels, LocalKernels):
        session.kernels.options = replace(session.kernels.options, env_pass=after.env_pass)
    for kernel in restarted:
        await restart_kernel(kernel, session.note)
    if system_prompt is not None:
        # By now it is what holds the kernels that is told.
        session.instruct(system_prompt.text(after), code=after.code)


async def use_model(
    session: Session, settings: Settings, environ: Mapping[str, str], *, api_key: str = ""
) -> None:
    """Let the model of `settings` answer from now on, and close the one before.

    Raises:
        SettingsError: its name says no provider.
    """
    if session.resources.secrets is not None:
        session.resources.secrets.use(settings)
    before, keyed = session.model, with_keys(environ, settings.model, *settings.fallback_models)
    session.model = await build_model(
        settings,
        session.kernels.languages,
        cwd=session.kernels.get(session.kernels.languages[0]).cwd,
        environ=keyed,
        api_key=api_key,
        functions=session.resources.functions,
    )
    session.resources.windows = windows(settings, keyed)
    session.resources.prices = known_prices(settings, keyed)
    await before.aclose()


async def _change_model(session: Session, change: Change, environ: Mapping[str, str], api_key: str) -> None:
    present, wanted = session.model.name, change.after.model
    if wanted == change.before.model:
        # The person may have picked another one since.
        settings, key = settings_for(present, present, change.after, api_key)
    else:
        settings, key = change.after, api_key if provider_of(wanted) == provider_of(present) else ""
    await use_model(session, settings, environ, api_key=key)


def _check_sandbox(session: Session, change: Change) -> None:
    held = session.resources.confinement
    if held is not None and change.touches(_SANDBOX):
        held.with_options(options_of(change.after)).check()


def _keep_in_mind(session: Session, change: Change) -> None:
    """Take what counts from the next line that is written, the next code and the next kernel that starts."""
    if change.touches(_LIMITS):
        session.resources.limits = limits_of(change.after)
    if session.resources.account is not None:
        session.resources.account.profile = change.after.profile
    if change.touches(_GOAL):
        session.resources.goal = goal_in(change.after)
    session.resources.references = change.after.references
    session.resources.error_values = change.after.error_values
    if change.touches(_RULES):
        session.resources.rules.written = tuple(written_rules(change.after))
    if session.resources.secrets is not None:
        session.resources.secrets.use(change.after)
    if session.resources.confinement is not None and change.touches(_SANDBOX):
        session.resources.confinement.options = options_of(change.after)


def _is_held_otherwise(session: Session, change: Change) -> bool:
    held = session.resources.confinement
    return (
        held is not None
        and change.touches(_SANDBOX)
        and held.differs(held.with_options(options_of(change.after)))
    )


def _of_the_model() -> frozenset[str]:
    return frozenset(name for name, row in table(Settings).items() if row.group == "model")
