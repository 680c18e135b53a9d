"""A story as a Jupyter notebook, which opens in any front end of Jupyter and runs again from the top."""

from collections.abc import Iterator, Mapping
from typing import Any

from terp.events.outputs import Display, Error, Omitted, Output, Text
from terp.events.run_log import LoggedRun
from terp.store.export.story import Answer, Part, Prompt, ReasoningPart, Remark, Rendered, Story
from terp.store.export.words import folded, not_run, omitted, unfinished
from terp.text.fences import fenced, quoted
from terp.text.languages import language_of
from terp.text.plain import mended

# Cell magics of IPython that run a language in another process.
_MAGICS = {
    "shell": "%%bash",
    "javascript": "%%script node",
    "r": "%%script R --no-save --slave",
    "ruby": "%%ruby",
    "perl": "%%perl",
}
_LANGUAGES = ("python", *_MAGICS)


def notebook(story: Story) -> Rendered:
    """Return the notebook: prompts and answers as text, runs as cells with outputs and counts.

    Cells that failed, or read a line, are tagged `raises-exception`, and cells that did not end
    `skip-execution`: by these tags nbclient and Jupyter run the rest all the same.
    """
    # Takes longer to import than a small session to export.
    import nbformat  # noqa: PLC0415
    from nbformat import v4  # noqa: PLC0415

    made: Any = v4
    cells = [made.new_markdown_cell(f"# {mended(story.title)}", metadata={"terp": {"part": "title"}})]
    cells += [cell for part in story.parts for cell in _cells(part, made)]
    for number, cell in enumerate(cells):
        cell["id"] = f"terp-{number}"
    metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {
            "name": "python",
            "file_extension": ".py",
            "mimetype": "text/x-python",
            "pygments_lexer": "ipython3",
        },
        "terp": {"session": story.name, "model": story.model},
    }
    book = made.new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(book)
    return Rendered(str(nbformat.writes(book)))  # type: ignore[no-untyped-call]


def _cells(part: Part, made: Any) -> Iterator[Any]:
    match part:
        case Prompt(text=text, attachments=attachments):
            named = [f"*attached: {', '.join(attachments)}*"] if attachments else []
            yield _markdown(made, "prompt", "\n\n".join([quoted(text), *named]))
        case ReasoningPart(text=text):
            yield _markdown(made, "reasoning", folded(text))
        case Answer(text=text):
            yield _markdown(made, "answer", text)
        case Remark(text=text):
            yield _markdown(made, "remark", f"*{text}*")
        case LoggedRun():
            yield from _run(part, made)


def _markdown(made: Any, kind: str, text: str, **metadata: Any) -> Any:
    return made.new_markdown_cell(mended(text), metadata={"terp": {"part": kind}, **metadata})


def _run(run: LoggedRun, made: Any) -> Iterator[Any]:
    if not run.ran:
        text = f"*{not_run(run)}*\n\n{fenced(run.code, run.language)}"
        yield _markdown(made, run.fate, text, tags=[run.fate])
        return
    source = _source(run)
    if source is None:
        # No cell of a Python notebook can hold it.
        yield _markdown(made, "run", fenced(run.code, run.language))
        source = ""
    metadata: dict[str, Any] = {"terp": {"part": "typed" if run.typed else "run", "fate": run.fate}}
    if tags := _tags(run):
        metadata["tags"] = tags
    outputs = [out for output in run.outputs for out in _output(output, run, made)]
    yield made.new_code_cell(
        mended(source), execution_count=run.number or None, outputs=outputs, metadata=metadata
    )
    if how := unfinished(run):
        yield _markdown(made, "remark", f"*{how}*")


def _tags(run: LoggedRun) -> list[str]:
    if unfinished(run):
        return ["skip-execution"]
    # Where nobody is there to type, code that reads a line fails too.
    return ["raises-exception"] if run.fate == "error" or run.asked else []


def _source(run: LoggedRun) -> str | None:
    language = language_of(run.language, _LANGUAGES)
    if language == "python":
        return run.code
    return f"{_MAGICS[language]}\n{run.code}" if language else None


def _output(output: Output, run: LoggedRun, made: Any) -> Iterator[Any]:
    match output:
        case Text(stream=stream, text=text):
            yield made.new_output("stream", name=stream, text=mended(text))
        case Omitted():
            yield made.new_output("stream", name="stdout", text=f"\n{omitted(output, run)}\n")
        case Error(name=name, value=value, traceback=traceback):
            lines = [mended(line) for line in traceback]
            yield made.new_output("error", ename=mended(name), evalue=mended(value), traceback=lines)
        case Display(data=data, metadata=metadata, is_result=is_result) if data:
            facts = {"data": _bundle(data), "metadata": dict(metadata)}
            if is_result:
                yield made.new_output("execute_result", execution_count=run.number or None, **facts)
            else:
                yield made.new_output("display_data", **facts)


def _bundle(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a MIME bundle in the form of the format: values are text, except for JSON types."""
    return {
        mime: value if mime.endswith("json") else mended(value if isinstance(value, str) else str(value))
        for mime, value in data.items()
    }
