"""Other settings for an open session: most take effect at once, some only for the next session."""

from collections.abc import Iterable, Mapping

from terp.events.kernel import Kernel
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import options_of
from terp.models.building import build_model, provider_of, settings_for
from terp.models.facts.lookup import known_prices, windows
from terp.opening.chat_session import checkpoints_of
from terp.opening.environment import install_policy
from terp.opening.session import goal_in, limits_of, watched_in, written_rules
from terp.secrets.keys import with_keys
from terp.session.resources import Limits
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.setting import table
from terp.text.dataclasses import dataclass, fields, replace
from terp.tools.offering import offer_tools

_PROMPT = frozenset(
    {"code", "instructions", "max_output_chars", "packages", "python", "references", "system_message"}
)
_LIMITS = frozenset(limit.name for limit in fields(Limits))
_PACKAGES = frozenset({"auto_install", "auto_run", "packages"})
_SEARCH = frozenset({"search_provider", "search_url"})
_KERNELS = frozenset({"env_pass", "python"})
_RULES = frozenset({"allow", "ask", "deny"})
_SANDBOX = frozenset(
    {
        "approve",
        "auto_run",
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
_OTHERS = frozenset({"checkpoint", "session_quota_mb", "watch"})
_AT_ONCE = _GOAL | _PROMPT | _LIMITS | _PACKAGES | _SEARCH | _KERNELS | _RULES | _SANDBOX | _OTHERS


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
        """The differing settings that are only read when a session opens."""
        at_once = _AT_ONCE | _of_the_model()
        # If no Python is named, it is looked for, and the user may be asked.
        waiting = {"python"} if not self.after.python else set()
        return tuple(name for name in self.names if name not in at_once or name in waiting)

    @property
    def is_any(self) -> bool:
        """True if anything differs, even if it is only the profile whose cost is recorded."""
        return bool(self.names) or self.before.profile != self.after.profile

    def touches(self, names: Iterable[str]) -> bool:
        """Return True if one of these settings differs, and takes effect at once."""
        return any(name in self.names and name not in self.later for name in names)


def restarted_kernels(session: Session, change: Change) -> tuple[Kernel, ...]:
    """Return the running kernels that the change restarts; their variables are lost."""
    kernels = [session.kernels.get(language) for language in session.kernels.languages]
    # One kernel may run several languages, and need not be hashable; SQL runs in Python's kernel. Kernels of
    # other programs are never restarted.
    running = [one for one in {id(one): one for one in kernels}.values() if one.generation and not one.place]
    if any(kernel.language == "python" for kernel in running):
        running = [kernel for kernel in running if kernel.language != "sql"]
    if change.touches({"env_pass"}) or _sandbox_differs(session, change):
        return tuple(running)
    return tuple(kernel for kernel in running if kernel.language == "python" and change.touches({"python"}))


async def change_settings(
    session: Session, change: Change, environ: Mapping[str, str], *, api_key: str = ""
) -> None:
    """Apply other settings to the session, except those that come `later`.

    Approval is decided by the session's person, and changed there. `api_key` is a key for the provider of the
    model in use.

    Raises:
        SettingsError: the model's name has no known provider, or a file of instructions cannot be read.
        KernelError: the Python does not exist, or a kernel did not restart.
        NoSandbox: a sandbox is required now, and none works here; nothing has changed.
    """
    _check_sandbox(session, change)
    restarted, after = restarted_kernels(session, change), change.after
    system_prompt = session.resources.system_prompt
    if system_prompt is not None:
        # An unreadable file is reported here, before anything has changed.
        system_prompt.text(after)
    if change.touches(_of_the_model() | {"code"}):
        await _change_model(session, change, environ, api_key)
    _update_resources(session, change)
    if change.touches({"checkpoint"}):
        checkpoints_of(session).use(after.checkpoint)
    if change.touches({"python"}) and session.resources.pythons is not None:
        await session.resources.pythons.use(after.python)
    if change.touches(_PACKAGES) and session.resources.packages is not None:
        session.resources.packages.want(install_policy(after), after.packages)
    if change.touches(_SEARCH):
        confinement = session.resources.confinement
        environ = with_keys(environ, after.model, *after.fallback_models)
        offer_tools(
            session, session.dialog, after, environ, lambda: confinement is None or confinement.network
        )
    if isinstance(session.kernels, LocalKernels):
        session.kernels.options = replace(session.kernels.options, env_pass=after.env_pass)
    for kernel in restarted:
        await session.restart_kernel(kernel)
    if system_prompt is not None:
        # The prompt names the sandbox, which has changed by now.
        session.instruct(system_prompt.text(after), code=after.code)


async def use_model(
    session: Session, settings: Settings, environ: Mapping[str, str], *, api_key: str = ""
) -> None:
    """Use the model of `settings` from the next request on, and close the one before.

    Raises:
        SettingsError: its name has no known provider.
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
        # The user may have switched to another model since.
        settings, key = settings_for(present, present, change.after, api_key)
    else:
        settings, key = change.after, api_key if provider_of(wanted) == provider_of(present) else ""
    await use_model(session, settings, environ, api_key=key)


def _check_sandbox(session: Session, change: Change) -> None:
    confinement = session.resources.confinement
    if confinement is not None and change.touches(_SANDBOX):
        confinement.with_options(options_of(change.after)).check()


def _update_resources(session: Session, change: Change) -> None:
    """Set what the next request, the next code and the next kernel start read."""
    resources = session.resources
    if change.touches(_LIMITS):
        resources.limits = limits_of(change.after)
    if resources.account is not None:
        resources.account.profile = change.after.profile
    if change.touches(_GOAL):
        resources.goal = goal_in(change.after)
    if change.touches({"watch"}):
        resources.watch = watched_in(change.after.watch)
    resources.references = change.after.references
    resources.error_values = change.after.error_values
    if change.touches(_RULES):
        resources.rules.written = tuple(written_rules(change.after))
    if resources.secrets is not None:
        resources.secrets.use(change.after)
    if resources.confinement is not None and change.touches(_SANDBOX):
        resources.confinement.options = options_of(change.after)


def _sandbox_differs(session: Session, change: Change) -> bool:
    confinement = session.resources.confinement
    return (
        confinement is not None
        and change.touches(_SANDBOX)
        and confinement.differs(confinement.with_options(options_of(change.after)))
    )


def _of_the_model() -> frozenset[str]:
    return frozenset(name for name, row in table(Settings).items() if row.group == "model")
