"""The same ten steps through `terp mcp-server` and through jupyter-mcp-server: wall time, and tokens to read.

python -m bench.mcp_server                  # terp only
python -m bench.mcp_server --anchor VENV    # and the anchor: a venv with jupyter-mcp-server and jupyterlab

Tokens are characters of text results, and of the list of tools, divided by four. The client is the official
one.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from mcp import Client, StdioServerParameters, types

ROOT = Path(__file__).resolve().parents[1]
LOAD = "import pandas as pd\nsales = pd.read_csv('sales.csv')\nsales.head()"
PLOT = "ax = sales.groupby('shop').units.sum().plot.bar(); ax.figure.savefig('plot.png')"
STEPS = (
    ("load a CSV", LOAD),
    ("describe it", "sales.describe()"),
    ("total by shop", "totals = sales.groupby('shop').units.sum(); totals"),
    ("plot it", f"%matplotlib inline\n{PLOT}"),
    ("go on with the variable", "totals.idxmax(), int(totals.max())"),
    ("make a mistake", "sales['unit'].mean()"),
    ("mend it", "round(sales['units'].mean(), 2)"),
    ("print 5,000 lines", "for n, row in enumerate(sales.itertuples()): print(n, row.shop, row.units)"),
    ("find lines in it", ""),
    ("list the variables", ""),
)
FIND, VARIABLES = (
    "for n, row in enumerate(sales.itertuples()):\n    if n % 1000 == 7: print(n, row.shop, row.units)",
    "%whos",
)


def table(folder: Path) -> None:
    rows = "".join(f"{('north', 'south', 'east')[n % 3]},{n * 7 % 31}\n" for n in range(5_000))
    (folder / "sales.csv").write_text(f"shop,units\n{rows}")


async def called(client: Client, tool: str, given: Mapping[str, Any]) -> tuple[float, int, int]:
    """Seconds, characters and pictures of a call."""
    began = time.perf_counter()
    result = await client.call_tool(tool, dict(given))
    seconds = time.perf_counter() - began
    text = sum(len(one.text) for one in result.content if isinstance(one, types.TextContent))
    return seconds, text, sum(isinstance(one, types.ImageContent) for one in result.content)


@asynccontextmanager
async def terp(folder: Path) -> AsyncGenerator[Client, None]:
    environ = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'cli'}",
        "TERP_HOME": str(folder / "terp"),
    }
    program = ["-m", "terp_cli", "mcp-server"]
    server = StdioServerParameters(command=sys.executable, args=program, env=environ, cwd=folder)
    async with Client(server) as client:
        yield client


@asynccontextmanager
async def jupyter(venv: Path, folder: Path) -> AsyncGenerator[Client, None]:
    """Its server needs JupyterLab, and a notebook there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--IdentityProvider.token=t",
        "--ServerApp.root_dir=.",
    ]
    command = [str(venv / "bin/jupyter"), "lab", *flags]
    lab = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
    try:
        async with httpx.AsyncClient(trust_env=False) as http:
            for _ in range(300):
                try:
                    await http.get(f"http://127.0.0.1:{port}/api")
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
        environ = {**os.environ, "JUPYTER_URL": f"http://127.0.0.1:{port}", "JUPYTER_TOKEN": "t"}
        program = str(venv / "bin/jupyter-mcp-server")
        server = StdioServerParameters(command=program, args=["start", "--transport", "stdio"], env=environ)
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123, ASYNC230
            from mcp.client.stdio import stdio_client  # noqa: PLC0415

            async with Client(stdio_client(server, errlog=nowhere)) as client:
                await client.call_tool(
                    "use_notebook", {"notebook_name": "n", "notebook_path": "n.ipynb", "mode": "create"}
                )
                yield client
    finally:
        lab.terminate()
        lab.wait()


async def measured(name: str, connect: Any) -> list[tuple[float, int, int]]:
    began = time.perf_counter()
    async with connect as client:
        tools = (await client.list_tools()).tools
        start, listed = (
            time.perf_counter() - began,
            sum(len(one.model_dump_json(exclude_none=True)) for one in tools),
        )
        rows = [(start, listed, 0)]
        for step, code in STEPS:
            if name == "terp" and not code:
                grep = {"n": 8, "grep": "1007 |2007 |3007 |4007 "}
                call = ("output", grep) if "lines" in step else ("variables", {})
            elif name == "terp":
                call = ("execute", {"code": code})
            else:
                source = code or (FIND if "lines" in step else VARIABLES)
                call = ("insert_execute_code_cell", {"cell_index": -1, "cell_source": source})
            rows.append(await called(client, *call))
    return rows


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--anchor",
        type=lambda path: Path(path).absolute(),
        help="a venv with jupyter-mcp-server and jupyterlab",
    )
    anchor: Path | None = parser.parse_args().anchor
    found = {}
    for name in ("terp", *(["jupyter"] if anchor else [])):
        with tempfile.TemporaryDirectory(prefix="terp-bench-", ignore_cleanup_errors=True) as folder:
            table(Path(folder))
            connect = jupyter(anchor, Path(folder)) if anchor and name != "terp" else terp(Path(folder))
            found[name] = await measured(name, connect)
    print(f"{'step':26}" + "".join(f"{name:>12} s{'tokens':>9}{'pictures':>9}" for name in found))
    for at, step in enumerate(["start, list of tools", *(step for step, _ in STEPS)]):
        cells = [found[name][at] for name in found]
        print(f"{step:26}" + "".join(f"{s:14.2f}{chars // 4:9,}{pictures:9}" for s, chars, pictures in cells))
    sums = [(sum(row[0] for row in rows), sum(row[1] for row in rows) // 4) for rows in found.values()]
    print(f"{'sum':26}" + "".join(f"{seconds:14.2f}{tokens:9,}{'':9}" for seconds, tokens in sums))


asyncio.run(main())
