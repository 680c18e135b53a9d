import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, TIMEOUT_S

CODE = """
import asyncio, sys, threading
from terp.settings.model_settings import ModelOptions
from terp.models.building import open_model
from terp_cli.repl.keeping import prefetch_adapters

open_model(ModelOptions(model="openai/scripted", adapter=sys.argv[1], api_key="k"), environ={})
asyncio.run(prefetch_adapters())
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
print("litellm" in sys.modules)
"""


@pytest.mark.parametrize(("adapter", "imported"), [("litellm", "True\n"), ("direct", "False\n")])
def test_litellm_is_imported_ahead_only_where_a_model_needs_it(
    tmp_path: Path, adapter: str, imported: str
) -> None:
    # The real one takes seconds; this one fails at whatever it is asked for, of which nothing may be seen.
    (tmp_path / "litellm.py").write_text("")
    path = f"{tmp_path}:{ROOT / 'core'}:{ROOT / 'cli'}"
    ran = subprocess.run(
        [sys.executable, "-c", CODE, adapter],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == (imported, "")
