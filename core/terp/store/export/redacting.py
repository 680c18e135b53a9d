"""A story without secrets."""

from dataclasses import replace

from terp.events.outputs import Display, Error, Output, Text
from terp.secrets.scrubbing import Scrubber
from terp.store.export.story import Answer, Part, Prompt, Reasoning, Remark, Run, Story
from terp.text.pictures import is_picture


def redacted(story: Story, scrubber: Scrubber) -> Story:
    """The story with every secret that `scrubber` knows replaced, in whatever was said, run or put out.

    A story holds whole texts, so that a secret is found also where it came in pieces.
    """
    return replace(story, parts=tuple(_part(part, scrubber) for part in story.parts))


def _part(part: Part, scrubber: Scrubber) -> Part:
    match part:
        case Prompt(text=text) | Reasoning(text=text) | Answer(text=text) | Remark(text=text):
            return replace(part, text=scrubber.redacted(text))
        case Run():
            return replace(
                part,
                code=scrubber.redacted(part.code),
                reason=scrubber.redacted(part.reason),
                outputs=tuple(_output(output, scrubber) for output in part.outputs),
            )


def _output(output: Output, scrubber: Scrubber) -> Output:
    match output:
        case Text(text=text):
            return replace(output, text=scrubber.redacted(text))
        case Error(value=value, traceback=traceback):
            lines = tuple(scrubber.redacted_pieces(traceback))
            return replace(output, value=scrubber.redacted(value), traceback=lines)
        case Display(data=data):
            clean = {
                mime: value if is_picture(mime) else scrubber.redacted_value(value)
                for mime, value in data.items()
            }
            return replace(output, data=clean)
    return output
