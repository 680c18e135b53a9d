"""HTML, SVG, Mermaid and React: saved, shown and opened by whoever looks at them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from terp.kernels import pages
from terp.kernels.pages import PageKernel
from terp.kernels.runtimes.runtime import Machine, Runtime

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels

_SHOWN: Mapping[str, Callable[[str], Mapping[str, str]]] = {
    "html": pages.html_page,
    "svg": pages.svg_picture,
    "mermaid": pages.mermaid_page,
    "react": pages.react_page,
}


def runtimes() -> Sequence[Runtime]:
    """One row for each of them. Nothing has to be there for them: a browser shows what was saved."""
    return [Runtime((language,), _here, "", _maker(language), keeps_state=False) for language in _SHOWN]


def _here(_: Machine) -> str:
    return "saved as a file"


def _maker(language: str) -> "Callable[[LocalKernels], PageKernel]":
    return lambda kernels: PageKernel(language, kernels.cwd, _SHOWN[language])
