"""The changes of a run to text files, as its kernel reports them."""

from pathlib import Path

from terp.events.kernel import Kernel
from tests.core.kernels.running import ran


async def test_a_modified_text_file_has_its_lines_and_its_diff(kernel: Kernel) -> None:
    folder = Path(kernel.cwd)
    (folder / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    (folder / "b.bin").write_bytes(b"\0\1")
    code = (
        "from pathlib import Path\nopen('b.bin', 'ab').write(b'x')\np = Path('a.txt')\n"
        "p.write_text(p.read_text().replace('five', '5'))"
    )
    files = {Path(one.path).name: one for one in (await ran(kernel, code)).ended.files}
    assert (files["a.txt"].added, files["a.txt"].removed) == (1, 1)
    assert files["a.txt"].diff == "@@ -3,3 +3,3 @@\n three\n four\n-five\n+5"
    assert (files["b.bin"].added, files["b.bin"].diff) == (0, "")


async def test_a_run_is_compared_with_the_run_before_it(kernel: Kernel) -> None:
    (Path(kernel.cwd) / "c.txt").write_text("1\n")
    await ran(kernel, "open('c.txt', 'w').write('2\\n')")
    [change] = (await ran(kernel, "open('c.txt', 'w').write('3\\n')")).ended.files
    assert change.diff == "@@ -1 +1 @@\n-2\n+3"
