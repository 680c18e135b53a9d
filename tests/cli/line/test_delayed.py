"""Modules whose import waits for the first use of a name."""

import subprocess
import sys
from pathlib import Path

import pytest

from terp_cli.line.delayed import RARELY_USED
from tests.cli.running import Terp
from tests.cli.teletype import Teletype

BEGIN = "import sys\nfrom terp_cli.line.delayed import *\n"
HAS_TLS = "print('_ssl' in sys.modules)\n"


def printed(code: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_a_module_is_loaded_for_the_first_of_its_names() -> None:
    look = "import colorsys\nprint(hasattr(colorsys, '__file__'))\n"
    code = f"delay('colorsys')\n{look}print(colorsys.rgb_to_hsv(0, 0, 1)[2])\n{look}"
    assert printed(code) == ["False", "1", "True"]


def test_a_module_that_is_loaded_stays() -> None:
    code = "import colorsys as before\ndelay('colorsys')\nimport colorsys\nprint(colorsys is before)"
    assert printed(code) == ["True"]


def test_threads_that_use_a_module_first_at_once_get_the_same() -> None:
    code = (
        "import threading\ndelay('decimal')\nimport decimal\nready, seen = threading.Barrier(8), []\n"
        "def use():\n    ready.wait()\n    seen.append(decimal.Decimal)\n"
        "threads = [threading.Thread(target=use) for _ in range(8)]\n"
        "[one.start() for one in threads]\n[one.join() for one in threads]\n"
        "import decimal\nprint(len(seen), {*seen} == {decimal.Decimal})\n"
    )
    assert printed(code) == ["8", "True"]


@pytest.mark.parametrize("name", ["ssl", *RARELY_USED])
def test_a_delayed_module_has_the_names_of_its_own(name: str) -> None:
    code = (
        f"delay_rarely_used()\nimport asyncio, {name} as waiting\nfrom importlib import import_module\n"
        "waits = isinstance(waiting, DelayedModule) and waiting.is_waiting()\n"
        f"getattr(waiting, 'some name', None)\nmodule = import_module({name!r})\n"
        "names = [one for one in dir(module) if not one.startswith('__')]\n"
        "print(waits, [one for one in names if getattr(waiting, one) is not getattr(module, one)])\n"
    )
    assert printed(code) == ["True", "[]"]


def test_asyncio_connects_without_tls() -> None:
    code = (
        "delay_rarely_used()\nimport asyncio\n"
        "async def main():\n"
        "    server = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1')\n"
        "    await asyncio.open_connection(*server.sockets[0].getsockname())\n"
        "asyncio.run(main())\n"
    )
    assert printed(code + HAS_TLS) == ["False"]


def test_asyncio_has_tls_when_it_is_asked_for() -> None:
    code = (
        "delay_rarely_used()\nimport asyncio\n"
        "async def main():\n"
        "    server = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1')\n"
        "    await asyncio.open_connection(*server.sockets[0].getsockname(), ssl=True)\n"
        "try:\n    asyncio.run(main())\nexcept OSError:\n    " + HAS_TLS
    )
    assert printed(code) == ["True"]


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc")
def test_a_prompt_loads_no_tls(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    command = [sys.executable, "-m", "terp_cli", "-m", "openai/gpt-4o", "--sandbox", "off"]
    with Teletype(command, terp.cwd, terp.environ | {"OPENAI_API_KEY": "unused"}) as shown:
        # The banner comes with the session, below which the toolbar warns.
        shown.until("No sandbox.")
        shown.until("no sandbox")
        loaded = Path(f"/proc/{shown.pid}/maps").read_text()
    assert [name for name in ("libssl", "libcrypto", "pyexpat") if name in loaded] == []
