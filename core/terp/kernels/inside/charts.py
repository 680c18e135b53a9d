"""Charts of plotly, altair and bokeh: a picture where one can be made, else a page that needs no other file.

Nothing here imports these libraries: each is met when the user's code imports it.
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
    """Sets how the libraries display a chart; a renderer that the user chooses stays."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.has_kaleido, self.has_told = True, False

    def wanted(self) -> dict[str, Callable[[Any], None]]:
        """Modules, with the functions that take them right after their import."""
        return {
            "plotly.io._renderers": self.watch_plotly,
            "altair": self.watch_altair,
            "bokeh.io": self.watch_bokeh,
        }

    def watch_plotly(self, module: Any) -> None:
        """Become the default renderer: plotly's own needs nbformat, and a front end with plotly.js."""
        charts = self

        class Renderer(module.ExternalRenderer):  # type: ignore[misc]
            def render(self, figure: Any) -> None:
                charts.publish(charts.of_plotly(figure), "plotly figure")

        module.renderers["terp"] = Renderer()
        if not os.environ.get("PLOTLY_RENDERER"):
            module.renderers.default = "terp"

    def of_plotly(self, figure: Any) -> dict[str, Any]:
        """The bundle of a figure. Kaleido is asked once when it has no browser to draw with."""
        import plotly.io  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

        if self.has_kaleido:
            try:
                drawn = plotly.io.to_image(figure, format="png", validate=False)
                return {"image/png": base64.b64encode(drawn).decode()}
            except Exception:  # noqa: BLE001  (kaleido and its browser fail in many ways)
                self.has_kaleido = False
        return {"text/html": plotly.io.to_html(figure, validate=False, include_mathjax=False)}

    def watch_altair(self, altair: Any) -> None:
        """Become the default renderer: altair's own loads its scripts from the network."""
        renderers = altair.renderers
        page = renderers.get()
        with renderers.enable("png"):
            picture = renderers.get()

        def render(spec: Any, **options: Any) -> Any:
            try:
                return picture(spec, **options)
            except Exception:  # noqa: BLE001  (a chart that cannot be drawn here may be in a browser)
                self.tell_of_altair()
                return page(spec, **options)

        renderers.register("terp", render)
        renderers.enable("terp")

    def tell_of_altair(self) -> None:
        """Say once that there are neither pictures nor scripts to put into a page."""
        if not self.has_told and importlib.util.find_spec("vl_convert") is None:
            self.has_told = True
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
