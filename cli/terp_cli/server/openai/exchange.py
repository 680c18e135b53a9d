"""Questions in words, and the next message of a client as the answer to one."""

import re

from terp.person import Decline, Run
from terp_cli.server.questions import BY, Open
from terp_cli.server.served import Served

ASKS_TO_RUN = "Do you want to run this code?"
_YES = re.compile(r"\s*yes[.!?\s]*", re.IGNORECASE)


def is_yes(text: str) -> bool:
    """Whether a message is consent, and nothing else."""
    return _YES.fullmatch(text) is not None


def in_words(served: Served, question: Open) -> str:
    """The end of an answer that asks something."""
    asked = question.asked
    if asked.kind == "approval":
        return ASKS_TO_RUN
    what = served.scrubber.redacted(asked.what)
    if asked.kind == "input":
        return f"The code waits for a line: {what}".rstrip()
    waiting = next((one for one in served.person.waiting if one.what == asked.what), None)
    why = served.scrubber.redacted(waiting.why) if waiting else ""
    options = waiting.options if waiting else ()
    told = f"{what}\n\n{why}".rstrip()
    if asked.kind == "consent":
        return f"{told}\n\nyes or no?"
    return "\n".join([f"{told}\n", *(f"- {option.letter}: {option.does}" for option in options)])


def answer(served: Served, question: Open, text: str) -> None:
    """Answer a question as it was shown. What is not "yes" declines code, with the text as the reason.

    Raises:
        Refused: it is answered already, or is about other code by now.
    """
    asked, proposed = question.asked, question.proposed
    if proposed is not None:
        decision = Run(proposed.code, by=BY) if is_yes(text) else Decline(text)
        served.questions.decide(proposed.call_id, proposed.digest, decision)
        return
    served.questions.answer(asked.question_id, is_yes(text) if asked.kind == "consent" else text.strip())
