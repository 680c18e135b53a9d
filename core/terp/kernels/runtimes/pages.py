"""HTML, SVG, Mermaid and React: code becomes a page that is saved and shown; no process runs."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from terp.events.kernel import SimpleKernel
from terp.events.outputs import Display, RunEnded, RunItem, RunStarted
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from terp.kernels.jupyter.local import LocalKernels

_REACT = "https://esm.sh"
_MERMAID = "https://cdn.jsdelivr.net/npm/mermaid@11/dist/mermaid.esm.min.mjs"
_BABEL = "https://cdn.jsdelivr.net/npm/@babel/standalone@7/babel.min.js"
_EXPORT = re.compile(r"^[ \t]*export[ \t]+default[ \t]+", re.MULTILINE)
_EXPORTED_NAME = re.compile(r"(?:function|class)[ \t]+(\w+)|(\w+)[ \t]*;?[ \t]*$", re.MULTILINE)
_COMPONENT = re.compile(r"^[ \t]*(?:function|class|const|let|var)[ \t]+([A-Z]\w*)", re.MULTILINE)
_IMPORTS_REACT = re.compile(r"^[ \t]*import\b[^;\n]*\bReact\b", re.MULTILINE)


def html_page(code: str) -> Mapping[str, str]:
    """Return a page unchanged."""
    return {"text/html": code}


def svg_picture(code: str) -> Mapping[str, str]:
    """Return a drawing unchanged."""
    return {"image/svg+xml": code}


def mermaid_page(code: str) -> Mapping[str, str]:
    """Return a page that draws a diagram with a script from the network, and the diagram's source as text."""
    import html  # noqa: PLC0415  (few sessions draw one, and its table of names takes 0.5 MB)

    script = f"import mermaid from '{_MERMAID}'; mermaid.initialize({{startOnLoad: true}});"
    body = f'<pre class="mermaid">\n{html.escape(code, quote=False)}\n</pre>'
    return {"text/html": _page(body, f'<script type="module">{script}</script>'), "text/plain": code}


def react_page(code: str) -> Mapping[str, str]:
    """Return a page that shows the default export of a module, or the last component that it defines.

    React and the compiler of JSX are loaded from the network.
    """
    module, shown = _without_export(code)
    lines = [
        f"import {{createRoot as terpRoot}} from '{_REACT}/react-dom@19/client';",
        *([] if _IMPORTS_REACT.search(code) else ["import React from 'react';"]),
        module,
        f"terpRoot(document.getElementById('root')).render(<{shown} />);",
    ]
    source = "\n".join(lines).replace("</script", "<\\/script")
    scripts = (
        f'<script type="importmap">{{"imports": {{"react": "{_REACT}/react@19"}}}}</script>\n'
        f'<script src="{_BABEL}"></script>\n'
        f'<script type="text/babel" data-type="module" data-presets="react,typescript">\n{source}\n</script>'
    )
    return {"text/html": _page('<div id="root"></div>', scripts), "text/plain": code}


def _without_export(code: str) -> tuple[str, str]:
    """Return a module without its default export, and the name of the component to show."""
    export = _EXPORT.search(code)
    if export is None:
        components = _COMPONENT.findall(code)
        return code, components[-1] if components else "App"
    before, after = code[: export.start()], code[export.end() :]
    named = _EXPORTED_NAME.match(after)
    if named is None:
        return f"{before}const Shown = {after}", "Shown"
    if named[1]:
        return before + after, named[1]
    return before + after[named.end() :], named[2]


@dataclass(slots=True)
class PageKernel(SimpleKernel):
    """Implements `Kernel` without a process: code becomes a display, which the session saves.

    `shown` makes its MIME bundle.
    """

    language: str
    cwd: str
    shown: Callable[[str], Mapping[str, str]]
    generation: int = 0
    _count: int = 0

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Yield the page as a display."""
        await self.start()
        self._count += 1
        yield RunStarted(number or self._count)
        yield Display(self.shown(code))
        yield RunEnded("ok")


def _page(body: str, scripts: str) -> str:
    return f'<!doctype html>\n<meta charset="utf-8">\n<body>\n{body}\n{scripts}\n</body>\n'


_SHOWN: Mapping[str, Callable[[str], Mapping[str, str]]] = {
    "html": html_page,
    "svg": svg_picture,
    "mermaid": mermaid_page,
    "react": react_page,
}


def runtimes() -> Sequence[Runtime]:
    """Return a row for each. They need no program: a browser shows the saved file."""
    return [Runtime((language,), _here, "", _maker(language), keeps_state=False) for language in _SHOWN]


def _here(_: Machine) -> str:
    return "saved as a file"


def _maker(language: str) -> "Callable[[LocalKernels], PageKernel]":
    return lambda kernels: PageKernel(language, kernels.cwd, _SHOWN[language])
