"""Kernels of other programs: their connection files, the connector to one, and the language that it runs."""

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from terp.errors import SettingsError, UnknownLanguage
from terp.events.kernel import Kernel
from terp.kernels.jupyter.channels import Connection, Connector, Guest
from terp.kernels.jupyter.launch import bootstrap_code, farewell_code
from terp.kernels.runtimes.kernelspecs import own_data_folder
from terp.kernels.runtimes.runtime import Runtime
from terp.settings.profile_file import short_path
from terp.text.dataclasses import dataclass, field
from terp.text.importing import import_slow

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels


NEWEST = "newest"
"""The name of the running kernel whose connection file was written last."""
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
_LARGEST_BYTES = 100_000
_SHORTEST_BEGINNING = 4
_NOTEBOOK = ".ipynb"
_REMEDY = "In a notebook, %connect_info shows its kernel's file."


@dataclass(frozen=True, slots=True)
class ConnectionFile:
    """The content of a connection file, without its key: `ports` by channel, the kernelspec `spec`.

    `document` is the notebook or the console that the kernel was started for, if the file names it.
    """

    path: str
    transport: str
    ip: str
    ports: Mapping[str, int]
    spec: str = ""
    document: str = ""

    @property
    def name(self) -> str:
        """The kernel's id, or what else its file is called after."""
        return Path(self.path).stem.removeprefix("kernel-")

    @property
    def title(self) -> str:
        """The name for the user: that of the notebook, else of the file."""
        return Path(self.document).name or Path(self.path).name

    def address(self, channel: str) -> str:
        """Return the address of a channel for ZeroMQ."""
        between = "-" if self.transport == "ipc" else ":"
        return f"{self.transport}://{self.ip}{between}{self.ports[channel]}"

    def is_called(self, name: str) -> bool:
        """Return True if `name` is its file, the beginning of its ID, its notebook or kernelspec."""
        document = Path(self.document)
        named = (
            Path(self.path).name,
            Path(self.path).stem,
            self.name,
            self.spec,
            document.name,
            document.stem,
        )
        begins = len(name) >= _SHORTEST_BEGINNING and self.name.startswith(name)
        return bool(name) and (name in named or begins)


def runtime_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which Jupyter writes the connection files of running kernels."""
    return Path(environ.get("JUPYTER_RUNTIME_DIR") or Path(own_data_folder(environ), "runtime"))


def written(environ: Mapping[str, str]) -> Sequence[ConnectionFile]:
    """Return the connection files in Jupyter's folder, the newest first; most kernels of them have ended."""
    files: list[tuple[float, ConnectionFile]] = []
    try:
        paths = list(runtime_folder(environ).glob("*.json"))
    except OSError:
        return ()
    for path in paths:
        try:
            files.append((path.stat().st_mtime, read(path)))
        except (OSError, SettingsError):
            # Servers keep files of their own there.
            continue
    return tuple(file for _, file in sorted(files, key=lambda found: -found[0]))


def named(target: str, environ: Mapping[str, str], cwd: str) -> Sequence[ConnectionFile]:
    """Return the files that `target` may name: by path, id or its beginning, notebook, kernelspec, or NEWEST.

    A notebook counts by its path if a kernel was started for exactly that file, else by its name.

    Raises:
        SettingsError: there is none, or the file that it names is no connection file.
    """
    path = Path(cwd, Path(target).expanduser())
    if path.is_file() and path.suffix != _NOTEBOOK:
        return (read(path),)
    there = written(environ)
    if target == NEWEST:
        return there
    by_path = tuple(
        file for file in there if file.document and Path(file.document).resolve() == path.resolve()
    )
    found = by_path or tuple(file for file in there if file.is_called(target))
    if not found:
        where = runtime_folder(environ)
        raise SettingsError(
            [
                f"attach: there is no connection file '{target}', and none called so in {short_path(where)}. "
                "`terp attach newest` takes the newest kernel that runs."
            ]
        )
    return found


def read(path: Path) -> ConnectionFile:
    """Read a connection file.

    Raises:
        SettingsError: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_LARGEST_BYTES))
        ports = {channel: int(content[f"{channel}_port"]) for channel in CHANNELS}
        transport, ip, _ = (str(content[fact]) for fact in ("transport", "ip", "key"))
    except OSError as error:
        raise SettingsError([f"attach: '{path}' cannot be read: {error.strerror}."]) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsError([f"attach: '{path}' is no connection file of Jupyter. {_REMEDY}"]) from error
    if transport not in ("tcp", "ipc") or not ip:
        raise SettingsError([f"attach: '{path}' names no address that can be reached. {_REMEDY}"])
    spec, document = (str(content.get(fact) or "") for fact in ("kernel_name", "jupyter_session"))
    return ConnectionFile(os.fspath(path.absolute()), transport, ip, ports, spec, document)


@dataclass(frozen=True, slots=True)
class KernelAttachment:
    """A running kernel of another program: its `language` in lower case, its working directory (`cwd`).

    It `takes_guests` if terp's own package works there; it `is_here` if its process runs on this machine.
    `version` is that of the language.
    """

    file: ConnectionFile
    language: str
    version: str = ""
    cwd: str = ""
    takes_guests: bool = False
    is_here: bool = False
    interrupt_by: Literal["signal", "message"] = "signal"
    session: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def place(self) -> str:
        """The kernel as a phrase after "in"."""
        return f"another program's kernel ({self.file.title})"

    @property
    def heeds_interrupts(self) -> bool:
        """True if code there can be interrupted from here."""
        # ipykernel supports the message even if its kernelspec names the signal.
        return self.is_here or self.takes_guests or self.interrupt_by == "message"

    def connector(self, token: str, prelude: str = "") -> "AttachedConnector":
        """Return the connector to it; `token` marks service calls, `prelude` runs after terp's package."""
        bootstrap = f"{bootstrap_code(token, self.session)}\n{prelude}" if self.takes_guests else ""
        guest = Guest(self.session, farewell_code(self.session) if self.takes_guests else "")
        return AttachedConnector(self, guest, self.place, bootstrap)


@dataclass(frozen=True, slots=True)
class AttachedConnector(Connector):
    """The way to a running kernel."""

    attachment: KernelAttachment
    guest: Guest
    why: str
    bootstrap: str
    start_timeout_s: float = 10.0

    def load(self) -> Callable[[], Connection]:
        """Return a function that makes the connection."""
        return partial(import_slow("terp.kernels.attached.kernel").AttachedKernel, self.attachment)


def row_of(attachment: KernelAttachment) -> Runtime:
    """Return the row of a language that no installed program runs."""

    def make(_: "LocalKernels") -> Kernel:
        raise UnknownLanguage(f"Nothing but {attachment.place} runs {attachment.language} here.")

    return Runtime((attachment.language,), lambda _: attachment.place, "", make)
