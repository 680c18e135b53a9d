"""The kernels of a gateway: kernelspecs, connectors, and files that go with prompts."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from terp.errors import (
    GatewayUnavailable,
    KernelError,
    KernelStartFailed,
    SettingsError,
    TerpError,
    UnknownLanguage,
)
from terp.events.kernel import Kernel, KernelListener, KnownLanguage
from terp.events.messages import Attachment
from terp.kernels.attached.attachment import KernelAttachment
from terp.kernels.environments.readiness import Carrier
from terp.kernels.jupyter.channels import Connection, Connector
from terp.kernels.jupyter.kernel import JupyterKernel, Listeners
from terp.kernels.jupyter.launch import KernelOptions, bootstrap_code
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.files import RemoteFiles, given
from terp.models.tool import Call
from terp.settings.gateway import Gateway
from terp.text.dataclasses import dataclass, field
from terp.text.importing import import_slow
from terp.text.languages import language_of

if TYPE_CHECKING:
    from terp.kernels.remote.rest import GatewayApi


@dataclass(frozen=True, slots=True)
class GatewayConnector(Connector):
    """The kernel of a kernelspec `spec`, found by `claims` or started.

    `environment` are variables for the gateway when it starts a kernel. Only the kernel knows its directory.
    """

    api: "GatewayApi"
    claims: Claims
    language: str
    spec: str
    environment: Mapping[str, str]
    why: str
    bootstrap: str
    start_timeout_s: float

    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection. Imports the library of the websocket."""
        return partial(import_slow("terp.kernels.remote.kernel").GatewayKernel, self)


@dataclass(frozen=True, slots=True)
class GatewaySpec:
    """A kernelspec of a gateway: its name, its language in lower case, and its title there."""

    name: str
    language: str
    title: str


def chosen_specs(
    specs: Sequence[GatewaySpec], languages: Sequence[str], host: str
) -> Mapping[str, GatewaySpec]:
    """Return the kernelspecs for the chosen languages, in that order; without a choice all.

    A kernelspec can also be chosen by its own name. The first one of a language gets the language's name,
    another one its own.

    Raises:
        SettingsError: there is none for one of them.
    """
    named = _named(specs)
    if not languages:
        return named
    found = {word: named.get(language_of(word, tuple(named))) or _called(specs, word) for word in languages}
    if unknown := [word for word, spec in found.items() if spec is None]:
        offered = ", ".join(named)
        raise SettingsError([f"languages: {host} runs no {word!r}; it runs {offered}." for word in unknown])
    return _named([spec for spec in found.values() if spec is not None])


def _named(specs: Sequence[GatewaySpec]) -> dict[str, GatewaySpec]:
    named: dict[str, GatewaySpec] = {}
    for spec in specs:
        taken = language_of(spec.language, tuple(named))
        named.setdefault(spec.name.casefold() if taken else spec.language, spec)
    return named


def _called(specs: Sequence[GatewaySpec], word: str) -> GatewaySpec | None:
    return next((spec for spec in specs if spec.name.casefold() == word.casefold()), None)


_PYTHON = "python"
# Variables for the gateway about a new kernel: KERNEL_USERNAME, KERNEL_NAMESPACE and the like.
_FOR_GATEWAYS = "KERNEL_"


@dataclass(frozen=True, slots=True)
class Origin:
    """The user's side of a session: the working directory, the environment, and the kernel options.

    Files that code writes are fetched into `folder`.
    """

    cwd: str
    folder: Path
    options: KernelOptions = field(default_factory=KernelOptions)
    environ: Mapping[str, str] = field(default_factory=dict)


class GatewayKernels:
    """Implements `Kernels` with the kernels of one gateway, started at first use. Made by `connect`.

    `cwd` is a directory of this machine, not of the kernels. `functions` returns more code for the start of a
    Python kernel, after the `prelude` of the options. `resumed` is True if all kernels of the session still
    run.
    """

    # terp has no sandbox there.
    network = True
    # Every kernel keeps its state.
    stateless: Sequence[str] = ()

    def __init__(
        self,
        api: "GatewayApi",
        specs: Mapping[str, GatewaySpec],
        claims: Claims,
        origin: Origin,
        *,
        resumed: bool = False,
    ) -> None:
        self.cwd = origin.cwd
        self.options = origin.options
        self.environ = origin.environ
        self.functions: Callable[[], str] = str
        self.resumed = resumed
        self.elsewhere = api.gateway.host
        # Kernels of other programs are used only on this machine.
        self.attached: Mapping[str, KernelAttachment] = {}
        self._api = api
        self._specs = specs
        self._claims = claims
        self._folder = origin.folder
        self._environment = {
            name: value for name, value in origin.environ.items() if name.startswith(_FOR_GATEWAYS)
        }
        self._listeners = Listeners()
        self._kernels: dict[str, JupyterKernel] = {}

    @classmethod
    async def connect(cls, gateway: Gateway, claims: Claims, origin: Origin) -> "GatewayKernels":
        """Connect to the gateway and read its kernelspecs.

        Raises:
            GatewayRefused: it refused access.
            GatewayUnavailable: it does not answer, or has no kernels.
            SettingsError: it has no kernel for a language that was chosen.
        """
        # httpx takes as long to import as the rest of the start.
        rest = await asyncio.to_thread(import_slow, "terp.kernels.remote.rest")
        api: GatewayApi = rest.GatewayApi(gateway)
        try:
            specs = await api.specs()
            if not specs:
                raise GatewayUnavailable(f"The gateway at {gateway.host} has no kernelspecs.")
            chosen = chosen_specs(specs, origin.options.languages, gateway.host)
            lives = [bool(await api.state(claims.kernel(language))) for language in claims.languages]
        except BaseException:
            await api.aclose()
            raise
        return cls(api, chosen, claims, origin, resumed=bool(lives) and all(lives))

    async def give(self, language: str, source: Path) -> str:
        """Copy a file of this machine to the kernel's machine; return its path there, never another file's.

        Raises:
            KernelStartFailed: there is no such kernel.
            KernelError: it takes no files.
            OSError: the file cannot be read.
        """
        running = await self._kernel(language).up()
        if not running.has_bootstrap:
            raise KernelError(f"A kernel for {language} takes no files from here; Python's does.")
        return await given(running, source)

    @property
    def languages(self) -> Sequence[str]:
        """The languages of its kernelspecs, that of the default first."""
        return tuple(self._specs)

    def known(self) -> Sequence[KnownLanguage]:
        """Return every kernelspec."""
        return [
            KnownLanguage((name,), f"{spec.title}, the kernelspec {spec.name} of {self.elsewhere}")
            for name, spec in self._specs.items()
        ]

    def get(self, language: str) -> Kernel:
        """Return the kernel for a language or an alias of it."""
        name = language_of(language, self.languages)
        if not name:
            known = ", ".join(self.languages)
            raise UnknownLanguage(f"No kernel at {self.elsewhere} runs {language!r}. There is: {known}.")
        return self._kernel(name)

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Report events outside runs to `listener`, until the returned function is called."""
        return self._listeners.add(listener)

    async def rest(self) -> Sequence[str]:
        """Disconnect, and end kernels unless they are to be kept. Return the languages that lost state."""
        kernels, self._kernels = self._kernels, {}
        await self._end(kernels)
        lost = {} if self.options.keep else kernels
        return tuple(language for language, kernel in lost.items() if kernel.generation)

    async def aclose(self) -> None:
        """Disconnect from the kernels, and end them unless they are to be kept."""
        await self._end(self._kernels)
        await self._api.aclose()

    async def _end(self, kernels: Mapping[str, JupyterKernel]) -> None:
        for kernel in kernels.values():
            await kernel.aclose()
        if not self.options.keep:
            for language in self._claims.languages:
                # A kernel that cannot be ended now is culled by the gateway when idle.
                with suppress(KernelStartFailed):
                    await self._api.delete(self._claims.kernel(language))
                    self._claims.forget(language)

    def _kernel(self, name: str) -> JupyterKernel:
        if name not in self._kernels:
            self._kernels[name] = self._made(name)
        return self._kernels[name]

    def _made(self, name: str) -> JupyterKernel:
        return JupyterKernel(
            name,
            "",
            lambda token: self._connector(name, token),
            self._listeners,
            RemoteFiles(self._folder, self.elsewhere),
            place=self._place(name),
            max_output_chars=self.options.max_output_chars,
        )

    def _place(self, name: str) -> str:
        return f"{self._specs[name].name} at {self.elsewhere}"

    def _connector(self, name: str, token: str) -> GatewayConnector:
        spec = self._specs[name]
        ours = "\n".join((bootstrap_code(token, away=True), self.options.prelude, self.functions()))
        return GatewayConnector(
            self._api,
            self._claims,
            name,
            spec.name,
            self._environment,
            self._place(name),
            ours if spec.language == _PYTHON else "",
            self.options.start_timeout_s,
        )


class FileCarrier(Carrier):
    """Before code runs, attached files are copied to its kernel.

    After a restart of the kernel, which may then be on another machine, they are copied again. A file that
    exists there is not sent.
    """

    def __init__(self, kernels: GatewayKernels) -> None:
        self._kernels = kernels
        self._sources: list[Path] = []
        self._given: dict[str, tuple[int, int]] = {}

    def take(self, attachments: Sequence[Attachment]) -> None:
        """Copy these files with the next code."""
        for attachment in attachments:
            if attachment.source and Path(attachment.source) not in self._sources:
                self._sources.append(Path(attachment.source))

    async def before(self, call: Call, kernel: Kernel) -> str:
        """Copy new files to the kernel. Return notes about failed copies and changed names."""
        if not self._sources:
            return ""
        await kernel.start()
        generation, count = self._given.get(kernel.language, (0, 0))
        new = self._sources[count if generation == kernel.generation else 0 :]
        notes = [await self._give(source, kernel.language) for source in new]
        self._given[kernel.language] = (kernel.generation, len(self._sources))
        return " ".join(part for part in notes if part)

    async def _give(self, source: Path, language: str) -> str:
        try:
            path = await self._kernels.give(language, source)
        except (TerpError, OSError) as error:
            return f"{source.name} is not in the kernel's directory: {error}"
        name = PurePosixPath(path).name
        return "" if name == source.name else f"{source.name} is there as {name}: that name was taken."
