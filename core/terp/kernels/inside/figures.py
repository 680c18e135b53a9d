"""Figures of matplotlib. Nothing here imports it: hooks run when the user's code does."""

from __future__ import annotations

import base64
import copy
import functools
import io
import os
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

from .home import Home

# Fonts with the scripts that matplotlib's own lacks, those with the most characters first.
FALLBACKS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei"),
    *("WenQuanYi Micro Hei", "Microsoft YaHei", "SimHei", "PingFang SC", "Hiragino Sans", "Yu Gothic"),
    *("IPAexGothic", "Malgun Gothic", "Apple SD Gothic Neo", "NanumGothic", "Droid Sans Fallback"),
    *("Arial Unicode MS", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai"),
    "Unifont",
)
EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC")
MOST_SHOWN = 12


class Glyphs:
    """Makes figures use all installed fonts, and collects characters that none of them has."""

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}

    def watch_fonts(self, module: Any) -> None:
        """Use installed fonts for characters that a sans-serif font lacks, with any later style."""
        find = getattr(module.FontManager, "_find_fonts_by_props", None)
        if find is None:
            return

        @functools.wraps(find)
        def with_fallbacks(manager: Any, prop: Any, *args: Any, **kwargs: Any) -> Any:
            prop = module.FontProperties._from_any(prop)
            family = prop.get_family()
            if family[-1:] == ["sans-serif"]:
                there = {entry.name for entry in manager.ttflist}
                prop = copy.copy(prop)
                prop.set_family([*family, *(name for name in FALLBACKS if name in there)])
            return find(manager, prop, *args, **kwargs)

        module.FontManager._find_fonts_by_props = with_fallbacks

    def watch_helpers(self, module: Any) -> None:
        """Collect missing characters instead of a warning for each."""
        if hasattr(module, "warn_on_missing_glyph"):
            module.warn_on_missing_glyph = lambda code, *_: self.missing.setdefault(chr(code))

    def warn(self) -> None:
        """Write which characters of the cell's figures were drawn as boxes."""
        if not self.missing:
            return
        shown = "".join(self.missing)[:MOST_SHOWN] + ("…" if len(self.missing) > MOST_SHOWN else "")
        fonts = " and ".join(sorted({font_for(char) for char in self.missing}))
        self.missing.clear()
        sys.stderr.write(f"No installed font has {shown}: drawn as boxes. A font that has them: {fonts}.\n")


def font_for(char: str) -> str:
    """Return the name of a free font that has a character."""
    script = unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
    if script in EAST_ASIAN:
        return "Noto Sans CJK"
    own = f"Noto Sans {script.capitalize()}"
    return own if own in FALLBACKS else "Noto Emoji" if ord(char) > 0x1F000 else "Noto Sans Symbols"


class Figures:
    """Shows every figure of matplotlib to the user once.

    A figure is sent when it is shown, when it is closed, or at the end of its cell. One that was saved to a
    file and closed is not sent: the user has the file.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.waiting: dict[int, Any] = {}
        self.sent: set[int] = set()
        self.glyphs = Glyphs()

    def send(self, figure: Any) -> None:
        """Send a figure, unless this cell has sent it."""
        self.waiting.pop(id(figure), None)
        if id(figure) in self.sent:
            return
        self.sent.add(id(figure))
        try:
            data = self.render(figure)
        except Exception as error:  # noqa: BLE001
            sys.stderr.write(f"A figure could not be drawn: {type(error).__name__}: {error}\n")
            return
        self.home.shell.display_pub.publish({**data, "text/plain": repr(figure)}, origin(figure))

    def render(self, figure: Any) -> dict[str, str]:
        """Return the figure in its registered formats; PNG if the user has chosen none.

        As in Jupyter an empty one is sent as text only: often it was created just before an error.
        """
        if not is_drawn(figure):
            return {}
        rendered = {}
        for mime, formatter in self.home.shell.display_formatter.formatters.items():
            printer = formatter.type_printers.get(type(figure)) or formatter.type_printers.get(
                self.figure_type
            )
            value = printer(figure) if printer and mime != "text/plain" else None
            value = value[0] if isinstance(value, tuple) else value
            if value is not None:
                rendered[mime] = base64.b64encode(value).decode() if isinstance(value, bytes) else value
        return rendered or {"image/png": base64.b64encode(png(figure)).decode()}

    def finish(self) -> None:
        """Send the figures that are left at the end of a cell, and close all."""
        for figure in list(self.waiting.values()):
            self.send(figure)
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and not self.has_windows():
            self.sent.update(id(manager.canvas.figure) for manager in self.managers())
            pyplot.close("all")
        self.glyphs.warn()
        self.waiting.clear()
        self.sent.clear()

    def managers(self) -> list[Any]:
        """Return the managers of the open figures."""
        helpers = sys.modules.get("matplotlib._pylab_helpers")
        return list(helpers.Gcf.get_all_fig_managers()) if helpers else []

    def has_windows(self) -> bool:
        """Return True if the user chose a back end that shows figures itself."""
        return any(manager.canvas.required_interactive_framework for manager in self.managers())

    def show(self) -> None:
        """Send all open figures and close them, as `pyplot.show`."""
        for manager in self.managers():
            self.send(manager.canvas.figure)
        sys.modules["matplotlib.pyplot"].close("all")

    def watch_managers(self, backend_bases: Any) -> None:
        """Patch pyplot's figure managers to track figures that it makes, shows and closes."""
        base = backend_bases.FigureManagerBase
        made, closed = base.__init__, base.destroy

        @functools.wraps(made)
        def init(manager: Any, canvas: Any, num: Any) -> None:
            made(manager, canvas, num)
            if not canvas.required_interactive_framework:
                self.waiting[id(canvas.figure)] = canvas.figure

        @functools.wraps(closed)
        def destroy(manager: Any) -> None:
            closed(manager)
            figure = manager.canvas.figure
            if self.home.in_cell and is_drawn(figure) and not origin(figure):
                self.send(figure)
            self.waiting.pop(id(figure), None)

        base.__init__, base.destroy = init, destroy
        base.show = lambda manager: self.send(manager.canvas.figure)

    def watch_figure(self, module: Any) -> None:
        """Patch `savefig` to record the path, and display a figure that is the value of a cell."""
        self.figure_type = module.Figure
        saved = module.Figure.savefig

        @functools.wraps(saved)
        def savefig(figure: Any, fname: Any, *args: Any, **kwargs: Any) -> Any:
            result = saved(figure, fname, *args, **kwargs)
            figure._terp_saved = written_to(fname)
            return result

        module.Figure.savefig = savefig
        self.home.shell.display_formatter.formatters["image/png"].for_type(module.Figure, png)

    def watch_pyplot(self, pyplot: Any) -> None:
        """Replace `show`, which would warn that it cannot show anything."""
        original = pyplot.show

        @functools.wraps(original)
        def show(*args: Any, **kwargs: Any) -> Any:
            return original(*args, **kwargs) if self.has_windows() else self.show()

        pyplot.show = show
        # All figures are closed after each cell: many open ones are no leak.
        pyplot.rcParams["figure.max_open_warning"] = pyplot.rcParamsDefault["figure.max_open_warning"] = 0

    def watch_inline(self, inline: Any) -> None:
        """Stop `%matplotlib inline` from sending figures a second time."""
        events, flush = self.home.shell.events, inline.flush_figures
        if flush in events.callbacks["post_execute"]:
            events.unregister("post_execute", flush)

        def show(*_: Any, **__: Any) -> None:
            self.show()

        show._draw_called, show._to_draw = False, []  # type: ignore[attr-defined]
        inline.show, inline.flush_figures = show, lambda: None

    def format(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the display formatter: note figures that are displayed as a value."""

        @functools.wraps(original)
        def format(obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: A001
            if id(obj) in self.waiting:
                self.sent.add(id(self.waiting.pop(id(obj))))
            data, metadata = original(obj, *args, **kwargs)
            is_figure = isinstance(obj, getattr(self, "figure_type", ()))
            return data, {**metadata, **origin(obj)} if is_figure else metadata

        return format


def written_to(name: Any) -> str:
    """Return the path that `savefig` has written; "" if it was no file."""
    if not isinstance(name, (str, os.PathLike)):
        return ""
    path = os.path.abspath(os.fsdecode(name))  # noqa: PTH100
    if os.path.splitext(path)[1]:  # noqa: PTH122
        return path
    return f"{path}.{sys.modules['matplotlib'].rcParams['savefig.format']}"


def is_drawn(figure: Any) -> bool:
    """Return True if a figure has anything in it but its background."""
    return len(figure.get_children()) > 1


def origin(figure: Any) -> dict[str, Any]:
    """Return display metadata of a figure: the file that the code has saved it to."""
    path = getattr(figure, "_terp_saved", "")
    return {"terp": {"saved": path}} if isinstance(path, str) and path else {}


def png(figure: Any) -> bytes:
    """Return a figure as PNG, without margins, at its own resolution."""
    buffer = io.BytesIO()
    figure.canvas.print_figure(buffer, format="png", bbox_inches="tight", dpi=figure.dpi)
    return buffer.getvalue()


class After:
    """Calls a function with a module right after its import; imports nothing itself."""

    def __init__(self, wanted: dict[str, Callable[[Any], None]]) -> None:
        self.wanted = wanted

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec from the other finders, with a loader that calls the hook."""
        if name not in self.wanted:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None) if finder is not self else None
            spec = find(name, path, target) if find else None
            if spec is not None and spec.loader is not None:
                spec.loader.exec_module = self.followed(name, spec.loader.exec_module)
                return spec
        return None

    def followed(self, name: str, execute: Callable[[Any], Any]) -> Callable[[Any], None]:
        """Wrap `execute` to run the hook after it: finding a spec does not import the module yet."""

        def both(module: Any) -> None:
            execute(module)
            then = self.wanted.pop(name, None)
            if then is not None:
                then(module)

        return both
