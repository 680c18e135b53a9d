"""Commands that change how things are shown or asked about: most switch something on or off."""

from terp.setting import table
from terp.settings import Settings
from terp_cli.commands.table import misused
from terp_cli.commands.talk import Talk

WORDS = ("on", "off")


async def auto_run(talk: Talk, word: str) -> None:
    """Whether code runs without being asked about, and what that means here."""
    if not word:
        talk.say(f"{_state(talk)} {_means(talk)}")
        if talk.auto_run or not await talk.ask("Run code without asking from now on?"):
            return
        talk.auto_run = True
    else:
        talk.auto_run = _on("auto_run", word)
    talk.say(asking(talk))


def asking(talk: Talk) -> str:
    """Whether code runs without being asked about now, and if so what that means."""
    return f"{_state(talk)} {_means(talk)}" if talk.auto_run else _state(talk)


async def verbose(talk: Talk, word: str) -> None:
    """Whether tracebacks and outputs are shown whole; without a word the other way than now."""
    talk.verbose = _on("verbose", word) if word else not talk.verbose
    talk.say(
        "Verbose output is on: tracebacks are shown whole. /verbose off ends it."
        if talk.verbose
        else "Verbose output is off: tracebacks are shown without library frames."
    )


async def debug(talk: Talk, word: str) -> None:
    """Whether errors show the traceback of what failed; without a word the other way than now."""
    talk.debug = _on("debug", word) if word else not talk.debug
    talk.say(
        "Debug output is on: an error is shown with the traceback of what failed. /debug off ends it."
        if talk.debug
        else "Debug output is off: errors are shown as one line."
    )


async def clear(talk: Talk, _: str) -> None:
    """An empty screen."""
    talk.clear()


def words(_: Talk, begun: str) -> list[str]:
    """The words that begin like this."""
    return [word for word in WORDS if word.startswith(begun)]


def _on(command: str, word: str) -> bool:
    try:
        return bool(table(Settings)["auto_run"].parse(word))
    except ValueError:
        raise misused(command, f"'{word}' is neither on nor off.") from None


def _state(talk: Talk) -> str:
    return "Code runs without being asked about." if talk.auto_run else "You are asked before code runs."


def _means(talk: Talk) -> str:
    kernels = talk.session.kernels
    tiers = {kernels.get(language).tier for language in kernels.languages}
    if "none" in tiers:
        return "Nothing confines it: it can do whatever you can do on this machine and over the network."
    return f"It is confined by {', '.join(sorted(tiers))}."
