"""terp: an engine that lets a language model run code in a live kernel, with a person in charge.

    with terp.open(model="openai/gpt-4o", approve=lambda proposed: True) as chat:
        reply = chat("How many primes are there below a million?")  # a Reply: text, code_log, images, files
        chat["table"] = frame  # a copy, as a variable of the kernel
        run = chat.run("table.describe()")  # a CodeRun: text, outputs, error
        result = chat["result"]

    with terp.kernel(sandbox="workspace") as kernel:  # the same kernel without a model
        kernel.run("print(6 * 7)")

With `async with`, `terp.open` returns a `ChatSession` and `terp.kernel` a `LiveKernel`: their methods are
coroutines. The constructor of `Session` takes its parts. Errors are `TerpError`; `terp.errors` has their
tree. The names here are imported at their first use, so `import terp` is fast.
"""

from importlib import import_module

# As in `typing`, which takes 6 of the 8 ms of this import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from terp.checks.solve.phases import Outcome
    from terp.errors import CannotTransfer, KernelError, MissingVariable, ModelError, SettingsError, TerpError
    from terp.events.kernel import Variable
    from terp.opening.chat import Chat, SyncKernel
    from terp.opening.chat_session import ChatSession
    from terp.opening.opening import kernel, open  # noqa: A004
    from terp.person import AutoRun, Consent, Decline, Nobody, Person, Run
    from terp.session.live_kernel import LiveKernel
    from terp.session.reply import CodeRun, Reply, TurnFailed
    from terp.session.session import Session

__version__ = "0.1.0"
__all__ = [
    "AutoRun", "CannotTransfer", "Chat", "ChatSession", "CodeRun", "Consent", "Decline", "KernelError",
    "LiveKernel", "MissingVariable", "ModelError", "Nobody", "Outcome", "Person", "Reply", "Run", "Session",
    "SettingsError", "SyncKernel", "TerpError", "TurnFailed", "Variable", "kernel", "open",
]  # fmt: skip

_HOMES = {
    "terp.checks.solve.phases": "Outcome",
    "terp.errors": "CannotTransfer KernelError ModelError MissingVariable SettingsError TerpError",
    "terp.events.kernel": "Variable",
    "terp.opening.chat": "Chat SyncKernel",
    "terp.opening.chat_session": "ChatSession",
    "terp.opening.opening": "kernel open",
    "terp.person": "AutoRun Consent Decline Nobody Person Run",
    "terp.session.live_kernel": "LiveKernel",
    "terp.session.reply": "CodeRun Reply TurnFailed",
    "terp.session.session": "Session",
}


def __getattr__(name: str) -> "Any":
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'terp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def load_ipython_extension(shell: "Any") -> None:
    """Load `%terp` into the kernel of a notebook, or into IPython: `%load_ext terp`."""
    import_module("terp.notebook.extension").load(shell)


def unload_ipython_extension(shell: "Any") -> None:
    """Remove `%terp`, and end its conversation."""
    import_module("terp.notebook.extension").unload(shell)
