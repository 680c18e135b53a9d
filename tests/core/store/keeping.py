"""What tests of the store share: kept sessions with fakes for parts."""

from collections.abc import Sequence
from pathlib import Path

from terp.events.kernel import Kernels
from terp.events.model import Model
from terp.person import AutoRun, Person
from terp.secrets.redactor import Redactor
from terp.session.session import Session
from terp.store.forms import Header
from terp.store.journal import NAME
from terp.store.keeping import Keeper, resumed
from terp.testing import EchoKernel, Scripted, ScriptedModel

SECRET = "p4ssw0rd of the database"


def redactor() -> Redactor:
    return Redactor(secrets=(SECRET,))


def header(folder: Path) -> Header:
    return Header(folder.name, "/somewhere", 1.5e9, "0.1.0")


def kept(
    folder: Path,
    *replies: Scripted,
    model: Model | None = None,
    kernels: Kernels | None = None,
    person: Person | None = None,
    keeper: Keeper | None = None,
) -> Session:
    """A new session that is kept in `folder`."""
    keeper = keeper or Keeper(folder, header(folder), redactor)
    return _session(folder, keeper, model or ScriptedModel(*replies), kernels, person)


def again(
    folder: Path,
    *replies: Scripted,
    model: Model | None = None,
    kernels: Kernels | None = None,
    person: Person | None = None,
) -> Session:
    """The session that is stored in `folder`, going on."""
    return _session(folder, resumed(folder, redactor), model or ScriptedModel(*replies), kernels, person)


def _session(
    folder: Path, keeper: Keeper, model: Model, kernels: Kernels | None, person: Person | None
) -> Session:
    return Session(model, kernels or EchoKernel(), person or AutoRun(), folder=folder, keeper=keeper)


def lines(folder: Path) -> Sequence[bytes]:
    return (folder / NAME).read_bytes().splitlines()
