"""The output of one run, as lines of plain text, for front ends that do not draw."""

from typing import assert_never

from terp.events import error_text
from terp.events import outputs as out
from terp.session.observation import plain_of
from terp.text.plain import Lines, without_escapes
from terp_cli.terminal.sanitise import one_line


class RunText:
    """Converter of the outputs of a run, in order, into text that is not yet sanitised.

    A traceback is cut to the frames of the cell and of files below `cwd`; with `whole` it has all.
    """

    def __init__(self, cwd: str = "", *, whole: bool = False) -> None:
        self._cwd = cwd
        self._whole = whole
        self._streams: dict[str, Lines] = {}

    def add(self, output: out.Output) -> str:
        """Return the lines that `output` completes, each with its newline."""
        if isinstance(output, out.Text):
            return self._streams.setdefault(output.stream, Lines()).feed(output.text)
        return self.rest() + self._whole_lines(output)

    def rest(self) -> str:
        """Return the incomplete last line, with a newline."""
        rests = [rest for lines in self._streams.values() if (rest := lines.rest())]
        return "".join(f"{rest}\n" for rest in rests)

    def _whole_lines(
        self,
        output: out.Omitted | out.Display | out.DisplayUpdate | out.Error | out.Clear | out.InputRequest,
    ) -> str:
        match output:
            case out.Display(data=data, path=path) | out.DisplayUpdate(data=data, path=path):
                shown = displayed_file(path) if path else plain_of(data) if data else ""
                return f"{without_escapes(shown)}\n"
            case out.Error():
                return f"{self._traceback(output)}\n"
            case out.Omitted(characters=characters):
                return f"[… {characters:,} characters left out …]\n"
            case out.InputRequest(prompt=prompt):
                return f"{without_escapes(prompt)}\n"
            case out.Clear():
                return ""
            case _:
                assert_never(output)

    def _traceback(self, error: out.Error) -> str:
        if self._whole and error.traceback:
            return without_escapes("\n".join(error.traceback))
        return error_text.readable(error, self._cwd)


def displayed_file(path: str) -> str:
    """Return a line that names the file of a display: a page, or a picture."""
    return f"[{'page' if path.endswith('.html') else 'picture'}] {one_line(path)}"
