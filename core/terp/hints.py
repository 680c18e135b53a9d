"""What a model should know about an error besides its text, because models keep making the mistake."""

from terp.outputs import Error

# Where the code interpreters that models were trained on keep the files of the user.
_ELSEWHERE = "/mnt/data"


def hint(error: Error, cwd: str) -> str:
    """A sentence that helps to correct the code; "" when there is none."""
    if _ELSEWHERE in error.value and not cwd.startswith(_ELSEWHERE):
        return f"{_ELSEWHERE} is not used here. Files are in the working directory, {cwd}."
    return ""
