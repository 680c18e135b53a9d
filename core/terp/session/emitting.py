"""A variable of the Python kernel as bytes for another program."""

import base64
from contextlib import aclosing

from terp.errors import SettingsError, TerpError
from terp.events.kernel import Kernel
from terp.events.outputs import Display
from terp.text.dataclasses import dataclass

FORMS = ("csv", "json", "parquet", "png", "md", "txt")
_MIME = "application/vnd.terp.bytes+json"


@dataclass(frozen=True, slots=True)
class Emission:
    """A variable to write, and its format: one of `FORMS`, or "" for the usual one of its type."""

    name: str
    form: str = ""


def emission(text: str) -> Emission:
    """Return the emission that `NAME` or `NAME:FORM` asks for.

    Raises:
        SettingsError: it is no name, or there is no such form.
    """
    name, _, form = text.partition(":")
    if not name.isidentifier():
        raise SettingsError([f"--emit: '{name}' is not the name of a variable."])
    if form and form not in FORMS:
        raise SettingsError([f"--emit: there is no form '{form}'; there are {', '.join(FORMS)}."])
    return Emission(name, form)


async def emitted(kernel: Kernel, wanted: Emission) -> bytes:
    """Return the bytes of a variable.

    Raises:
        TerpError: there is no such variable, it has no such form, or the kernel is gone.
    """
    if not kernel.generation:
        raise TerpError(f"There is no variable '{wanted.name}': no code has run.")
    emit = f"__import__('terp_home.emitting').emitting.emit(globals(), {wanted.name!r}, {wanted.form!r})"
    answer: dict[str, str] | None = None
    # Read to its end: leaving earlier would interrupt the kernel, perhaps in the middle of its reply.
    async with aclosing(kernel.execute(emit)) as items:
        async for item in items:
            if isinstance(item, Display) and _MIME in item.data:
                answer = item.data[_MIME]
    if answer is None:
        raise TerpError(f"The kernel did not give the variable '{wanted.name}'.")
    return _unpacked(answer)


def _unpacked(answer: dict[str, str]) -> bytes:
    if "error" in answer:
        raise TerpError(f"--emit: {answer['error']}")
    return base64.b64decode(answer["bytes"])
