"""Password program for sudo, ssh and git: asks the host, which asks the user.

Runs as a separate program that needs only the standard library: `askpass.py SOCKET PROMPT...`.
"""

import json
import os
import signal
import socket
import sys


def ask(path: str, prompt: str, *, secret: bool) -> "str | None":
    """Return the user's answer; None without one."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps({"prompt": prompt, "secret": secret}).encode() + b"\n")
        with connection.makefile("rb") as reading:
            answer = json.loads(reading.readline() or b"null")
    return answer if isinstance(answer, str) else None


def is_secret(prompt: str) -> bool:
    """Return True if the answer must be hidden: all but names, and yes or no."""
    asked = prompt.strip().casefold()
    return not (asked.startswith("username") or "(yes/no" in asked)


def main(path: str, *words: str) -> int:
    """Print the answer; return 1 without one."""
    # An interrupt ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prompt = " ".join(words)
    try:
        answer = ask(path, prompt, secret=is_secret(prompt))
    except OSError:
        answer = None
    if answer is None:
        return 1
    os.write(1, answer.encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
