"""The page as one self-contained document, its Content-Security-Policy with script hashes, and its routes.

The sources are modules and style sheets that a browser could load. The document holds them in one script, in
the order of their imports, without comments and indentation.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Header, Response

from terp.text.dataclasses import dataclass

_IMPORT = re.compile(r'^import (?:(\{[^}]*\})|(\w+)) from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const |function |async function |class )", re.MULTILINE)
# How the vendored modules end, which were written by a bundler.
_EXPORTED = re.compile(r"export\{([^}]*)\};?\s*$")
_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://|/\*\*|\* |\*/).*\n", re.MULTILINE)
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Libraries that are no modules: each gives the page one name.
_LIBRARIES = ("dompurify", "marked")
_STYLES = ("theme", "layout", "parts")


@dataclass(frozen=True)
class Document:
    """A page with its Content-Security-Policy; `tag` changes with its content."""

    content: bytes
    policy: str
    tag: str


def page(folder: Path = Path(__file__).parent) -> Document:
    """Return the page. Its policy allows only its own scripts, and connections only to its server."""
    style = "".join(_lean_style(_read(folder / "style" / f"{name}.css")) for name in _STYLES)
    libraries = [_MAP.sub("", _read(folder / "vendor" / f"{name}.js")) for name in _LIBRARIES]
    own = "".join(_modules(folder / "scripts" / "main.js"))
    scripts = [f"<script>{library}</script>\n" for library in libraries]
    scripts.append(f'<script type="module">{own}</script>\n')
    html = re.sub(r"^ +", "", _read(folder / "index.html"), flags=re.MULTILINE)
    # It is loaded when a formula is to be drawn.
    formulas = _hash(maths(folder))
    html = html.replace("<!-- maths -->", formulas.strip("'"))
    whole = html.replace("<!-- style -->", style).replace("<!-- scripts -->\n", "".join(scripts))
    named = " ".join(_hash(script) for script in (*libraries, own)) + f" {formulas}"
    policy = (
        f"default-src 'none'; script-src {named}; style-src {_hash(style)}; img-src data: blob:; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types dompurify terp"
    )
    return _document(whole.encode(), policy)


def maths(folder: Path = Path(__file__).parent) -> str:
    """Return the script that draws formulas."""
    return _read(folder / "vendor" / "temml.js")


def frame(folder: Path = Path(__file__).parent) -> Document:
    """Return a page for HTML that code wrote: its scripts run in a separate origin, without network."""
    policy = (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    return _document(_read(folder / "frame.html").encode(), policy)


def _document(content: bytes, policy: str) -> Document:
    return Document(content, policy, f'"{sha256(content + policy.encode()).hexdigest()[:32]}"')


def _hash(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def _modules(main: Path) -> Iterator[str]:
    """Return the modules joined into one, each after those that it imports."""
    seen = set[Path]()

    def of(path: Path) -> Iterator[str]:
        if path in seen:
            return
        seen.add(path)
        source = _read(path)
        for _, _, name in _IMPORT.findall(source):
            yield from of((path.parent / name).resolve())
        yield _lean(source) if path.parent == main.parent else _vendored(path.stem, source)

    yield from of(main.resolve())


def _lean(source: str) -> str:
    """Return one of our modules without comments and indentation. Names are unique across modules."""
    wired = _IMPORT.sub(lambda found: _taken(*found.groups()), source)
    bare = _COMMENT.sub("", _EXPORT.sub("", wired)).replace(" => ", "=>")
    # No statement begins behind or before these.
    return re.sub(r"(?<=[;{},(\[])\n|\n(?=[})\]])", "", re.sub(r"^\s+", "", bare, flags=re.MULTILINE))


def _taken(names: str | None, default: str | None, path: str) -> str:
    """Return the replacement of an import: "" for our own modules, which share one scope."""
    if "/vendor/" not in path:
        return ""
    return f"const {names or f'{{ default: {default} }}'} = {_variable(Path(path).stem)};\n"


def _vendored(name: str, source: str) -> str:
    """Return a vendored module in a separate scope."""
    exported = _EXPORTED.search(source)
    assert exported is not None, f"{name} is no module of the kind that is expected"
    pairs = (pair.split(" as ") for pair in exported[1].split(","))
    exports = ", ".join(f"{shown}: {inside}" for inside, shown in pairs)
    return f"const {_variable(name)} = (() => {{{source[: exported.start()]}\nreturn {{ {exports} }};}})();\n"


def _variable(stem: str) -> str:
    return f"vendored_{stem.replace('-', '_')}"


def _lean_style(source: str) -> str:
    bare = _STYLE_COMMENT.sub("", source)
    return re.sub(r"\s*([{};,>])\s*", r"\1", re.sub(r": ", ":", bare)).replace(";}", "}").strip()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


PUBLIC = ("/", "/frame", "/temml.js")


def page_router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    # Put together for the first who asks: most servers are never looked at.
    whole, framed, formulas = cache(page), cache(frame), cache(lambda: _document(maths().encode(), ""))

    @routes.api_route("/", methods=["GET", "HEAD"])
    def shell(if_none_match: str = Header("")) -> Response:
        return _answer(whole(), if_none_match)

    @routes.api_route("/frame", methods=["GET", "HEAD"])
    def shown(if_none_match: str = Header("")) -> Response:
        return _answer(framed(), if_none_match)

    @routes.api_route("/temml.js", methods=["GET", "HEAD"])
    def script(if_none_match: str = Header("")) -> Response:
        return _answer(formulas(), if_none_match, "text/javascript")

    return routes


def _answer(document: Document, known: str, kind: str = "text/html") -> Response:
    headers = {
        "ETag": document.tag,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": document.policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    if known == document.tag:
        return Response(status_code=304, headers=headers)
    return Response(document.content, headers=headers, media_type=kind)
