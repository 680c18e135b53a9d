"""A namespace in which code runs as cells of turns do, and that can be taken back."""

from types import SimpleNamespace
from typing import Any

from terp.kernels.inside.checkpoints import Checkpoints
from terp.kernels.inside.known import Kinds
from terp.kernels.inside.namespace import Namespace


class Kernel:
    """Runs code in a namespace of its own, as cells of turns that are counted from 1."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.shell: Any = SimpleNamespace(user_ns=self.names, user_ns_hidden=dict(self.names))
        self.namespace = Namespace(SimpleNamespace(shell=self.shell, streams=[]))  # type: ignore[arg-type]
        self.checkpoints = Checkpoints(self.shell, Kinds())

    def run(self, turn: int, *cells: str) -> None:
        for code in cells:
            self.namespace.begin(code)
            self.checkpoints.begin(turn, code)
            exec(compile(code, "<cell>", "exec"), self.names)
            self.namespace.compare()
            self.checkpoints.end(self.namespace.changed)

    def back_to(self, turn: int) -> dict[str, Any]:
        self.namespace.before = None
        return self.checkpoints.restore(turn)


def lost(told: dict[str, Any]) -> dict[str, str]:
    return dict(told["lost"])
