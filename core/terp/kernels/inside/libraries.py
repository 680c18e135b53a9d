"""Hooks for libraries: charts of plotly, altair and bokeh, pandas' data frames, and widgets.

A chart becomes a picture if possible, else a page without other files. Nothing here imports these libraries:
hooks run when the user's code imports one.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

from .home import Home


class Charts:
    """Sets how the libraries display a chart; a renderer that the user chooses stays.

    With the variable TERP_LIVE_CHARTS the page of a chart comes with its picture, for who can show it.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.has_kaleido, self.has_warned = True, False

    def wanted(self) -> dict[str, Callable[[Any], None]]:
        """Return modules, with the functions to call right after their import."""
        return {
            "plotly.io._renderers": self.watch_plotly,
            "altair": self.watch_altair,
            "bokeh.io": self.watch_bokeh,
        }

    def watch_plotly(self, module: Any) -> None:
        """Register the default renderer: plotly's own needs nbformat, and a front end with plotly.js."""
        charts = self

        class Renderer(module.ExternalRenderer):  # type: ignore[misc]
            def render(self, figure: Any) -> None:
                charts.publish(charts.of_plotly(figure), "plotly figure")

        module.renderers["terp"] = Renderer()
        if not os.environ.get("PLOTLY_RENDERER"):
            module.renderers.default = "terp"

    def of_plotly(self, figure: Any) -> dict[str, Any]:
        """Return the MIME bundle of a figure. If Kaleido fails once, it is not tried again."""
        import plotly.io  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

        picture = {}
        if self.has_kaleido:
            try:
                drawn = plotly.io.to_image(figure, format="png", validate=False)
                picture = {"image/png": base64.b64encode(drawn).decode()}
            except Exception:  # noqa: BLE001  (kaleido and its browser fail in many ways)
                self.has_kaleido = False
        if picture and not is_live():
            return picture
        return {**picture, "text/html": plotly.io.to_html(figure, validate=False, include_mathjax=False)}

    def watch_altair(self, altair: Any) -> None:
        """Register the default renderer: altair's own loads its scripts from the network."""
        renderers = altair.renderers
        page = renderers.get()
        with renderers.enable("png"):
            picture = renderers.get()

        def render(spec: Any, **options: Any) -> Any:
            try:
                shown = picture(spec, **options)
                if not is_live():
                    return shown
                data, *about = shown if isinstance(shown, tuple) else (shown,)
                data = {**data, **page(spec, template="inline")}
                return (data, *about) if about else data
            except Exception:  # noqa: BLE001  (a chart that cannot be drawn here may be in a browser)
                self.warn_of_altair()
                return page(spec, **options)

        renderers.register("terp", render)
        renderers.enable("terp")

    def warn_of_altair(self) -> None:
        """Write once that there are neither pictures nor scripts to put into a page."""
        if not self.has_warned and importlib.util.find_spec("vl_convert") is None:
            self.has_warned = True
            sys.stderr.write(
                "No pictures of altair without vl-convert; its pages load their scripts from the network. "
                "`pip install vl-convert-python` draws them.\n"
            )

    def watch_bokeh(self, io: Any) -> None:
        """Have `show` publish a page, with and without `output_notebook`; applications stay bokeh's."""

        def load(*_: Any, **__: Any) -> None:
            """Load nothing: each page has its scripts."""

        def show(chart: Any, *_: Any, **__: Any) -> None:
            from bokeh.embed import file_html  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
            from bokeh.resources import INLINE  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

            self.publish({"text/html": file_html(chart, INLINE, "bokeh")}, repr(chart))

        notebook = sys.modules["bokeh.io.notebook"]
        io.install_notebook_hook("jupyter", load, show, notebook.show_app, overwrite=True)
        io.output_notebook()

    def publish(self, data: dict[str, Any], plain: str) -> None:
        """Display a chart."""
        self.home.shell.display_pub.publish({**data, "text/plain": plain})


def is_live() -> bool:
    """Return True if charts are shown where their scripts run."""
    return bool(os.environ.get("TERP_LIVE_CHARTS"))


def draw_bars_as_text(module: Any) -> None:
    """Have `tqdm.notebook`, and so `tqdm.auto`, draw bars of text."""

    class Bar(module.std_tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, display: bool = True, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    module.tqdm = module.tqdm_notebook = Bar
    module.trange = module.tnrange = lambda *args, **kwargs: Bar(range(*args), **kwargs)
    # It is not needed, but without it `tqdm.autonotebook` would warn.
    module.IProgress = module.IProgress or object


def show_at_once(shell: Any, module: Any) -> None:
    """Show the content of an `Output` widget as output of the run; it cannot clear or fail the run."""
    widget, publisher = module.Output, shell.display_pub
    enter, leave, clear = widget.__enter__, widget.__exit__, publisher.clear_output
    entered: list[Any] = []

    def entering(self: Any) -> Any:
        entered.append(self)
        return enter(self)

    def leaving(self: Any, kind: Any, error: Any, trace: Any) -> Any:
        entered.remove(self)
        if not isinstance(error, Exception):
            # An interrupt, which the widget would swallow, ends the run.
            leave(self, None, None, None)
            return None
        frames = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=1)
        sys.stderr.write(shell.InteractiveTB.stb2text(frames) + "\n")
        return leave(self, None, None, None) or True

    def clear_output(*args: Any, **kwargs: Any) -> None:
        if not entered:
            clear(*args, **kwargs)

    widget.__enter__, widget.__exit__, publisher.clear_output = entering, leaving, clear_output


# What pandas sends of a frame outside a terminal, unless the user has set other options.
USUAL_COLUMNS = 20
# As many as fit side by side on the widest screens. A wider frame keeps the usual ones: pandas cuts
# columns before rows, and copies all rows of those that are left (measured: 72 ms for a million rows).
MOST_COLUMNS = 60
# The plain text of a frame is for the model, which has no screen: what pandas breaks at 80 characters
# repeats the index in each part.
USUAL_WIDTH, WIDTH = 80, 160


def prepare_frames(home: Home) -> None:
    """Send wide frames as HTML with more columns, as plain text in wider lines; printed ones as they are."""
    formatters = home.shell.display_formatter.formatters
    # The class gives one name or the other as its module, by the version of pandas.
    for module in ("pandas", "pandas.core.frame"):
        formatters["text/html"].for_type_by_name(module, "DataFrame", page)
        formatters["text/plain"].for_type_by_name(module, "DataFrame", plain)


def plain(frame: Any, printer: Any, _: bool) -> None:
    """Write the plain text of a frame, wider than the default unless the user has set a width."""
    pandas = sys.modules["pandas"]
    usual = pandas.get_option("display.width") == USUAL_WIDTH
    with pandas.option_context("display.width", WIDTH if usual else pandas.get_option("display.width")):
        printer.text(repr(frame))


def page(frame: Any) -> Any:
    """Return the HTML of a frame, with more columns than pandas' default."""
    pandas = sys.modules["pandas"]
    usual = pandas.get_option("display.max_columns") == USUAL_COLUMNS
    if not usual or not USUAL_COLUMNS < len(frame.columns) <= MOST_COLUMNS:
        return frame._repr_html_()
    with pandas.option_context("display.max_columns", MOST_COLUMNS):
        return frame._repr_html_()
