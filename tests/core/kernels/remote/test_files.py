"""Files on their way between this machine and a kernel's; the server has no part in it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import FileChange
from terp.kernels.remote.files import LARGEST
from terp.kernels.remote.kernels import FileCarrier, GatewayKernels
from terp.models.tool import Call
from terp.session.attachments import attach_elsewhere
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server
from tests.core.kernels.running import ran

CALL = Call("1", "python", "pass")


@pytest.fixture(scope="module")
def server(a_kernel_gateway: Server) -> Server:
    return a_kernel_gateway


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the session."""
    return tmp_path_factory.mktemp("session")


@pytest.fixture(scope="module")
async def there(server: Server, session: Path) -> AsyncGenerator[GatewayKernels, None]:
    kernels = await connected(server, session)
    yield kernels
    await kernels.aclose()


async def in_folder(kernels: GatewayKernels, server: Server, name: str) -> tuple[Kernel, Path]:
    """The Python kernel, in a directory of its own."""
    kernel, folder = kernels.get("python"), server.root / name
    folder.mkdir()
    await ran(kernel, f"import os; os.chdir({str(folder)!r})")
    return kernel, folder


async def test_what_code_writes_is_fetched(there: GatewayKernels, server: Server, session: Path) -> None:
    kernel, folder = await in_folder(there, server, "writes")
    run = await ran(kernel, "n = open('raw', 'wb').write(bytes(range(256)) * 10)")
    (change,) = run.ended.files
    assert change == FileChange(f"{folder}/raw", "created", 2560, there.elsewhere, change.copy)
    assert Path(change.copy).parent == session / "outputs"
    assert Path(change.copy).read_bytes() == bytes(range(256)) * 10


async def test_what_code_changes_and_deletes_is_told(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, _ = await in_folder(there, server, "changes")
    await ran(kernel, "for name in 'ab': open(name, 'w').write('1')")
    run = await ran(kernel, "open('a', 'w').write('22'); os.remove('b')")
    assert [(Path(one.path).name, one.action) for one in run.ended.files] == [
        ("a", "modified"),
        ("b", "deleted"),
    ]


async def test_a_file_that_was_moved_is_one_change(there: GatewayKernels, server: Server) -> None:
    kernel, folder = await in_folder(there, server, "moves")
    await ran(kernel, "n = open('a', 'w').write('1')")
    (moved,) = (await ran(kernel, "os.rename('a', 'b')")).ended.files
    source = f"{folder}/a"
    assert moved == FileChange(f"{folder}/b", "moved", 1, there.elsewhere, moved.copy, source)
    assert Path(moved.copy).read_text() == "1"


async def test_what_a_child_process_writes_is_seen_too(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, _ = await in_folder(there, server, "child")
    run = await ran(kernel, "!echo hi > by-a-child.txt")
    assert [Path(one.copy).read_text() for one in run.ended.files] == ["hi\n"]


async def test_caches_are_no_results(there: GatewayKernels, server: Server, tmp_path: Path) -> None:
    kernel, _ = await in_folder(there, server, "cache")
    run = await ran(kernel, "os.mkdir('.cache'); n = open('.cache/x', 'w').write('1')")
    assert run.ended.files == ()


async def test_a_file_in_many_pieces_comes_whole(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, _ = await in_folder(there, server, "large")
    run = await ran(kernel, "n = open('large', 'wb').write(b'0123456789' * 250_000)")
    assert [Path(one.copy).read_bytes() for one in run.ended.files] == [b"0123456789" * 250_000]


async def test_a_file_that_is_too_large_stays_there(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, folder = await in_folder(there, server, "huge")
    run = await ran(kernel, f"file = open('huge', 'wb'); file.truncate({LARGEST + 1}); file.close()")
    assert run.ended.files == (FileChange(f"{folder}/huge", "created", LARGEST + 1, there.elsewhere),)


async def test_a_figure_comes_as_a_picture(there: GatewayKernels) -> None:
    code = "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"
    assert len((await ran(there.get("python"), code)).images) == 1


async def test_an_attached_file_is_there_before_the_code_runs(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, _ = await in_folder(there, server, "given")
    data = tmp_path / "my data.bin"
    data.write_bytes(bytes(range(256)) * 8_000)
    carrier = FileCarrier(there)
    carrier.take(attach_elsewhere([str(data)]))
    assert await carrier.before(CALL, kernel) == ""
    run = await ran(kernel, "len(open('my data.bin', 'rb').read())")
    assert (run.results, run.ended.files) == (["2048000"], ())


async def test_an_attached_file_never_takes_the_place_of_another(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, folder = await in_folder(there, server, "taken")
    (folder / "data.csv").write_text("theirs")
    (tmp_path / "data.csv").write_text("mine")
    carrier = FileCarrier(there)
    carrier.take(attach_elsewhere([str(tmp_path / "data.csv")]))
    assert await carrier.before(CALL, kernel) == ("data.csv is there as data-2.csv: that name was taken.")
    assert ((folder / "data.csv").read_text(), (folder / "data-2.csv").read_text()) == ("theirs", "mine")


async def test_a_fresh_kernel_is_given_everything_again_and_keeps_what_is_there(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, name = there.get("python"), "again.txt"
    await kernel.restart()
    (tmp_path / name).write_text("mine")
    carrier = FileCarrier(there)
    carrier.take(attach_elsewhere([str(tmp_path / name)]))
    await carrier.before(CALL, kernel)
    await kernel.restart()
    assert await carrier.before(CALL, kernel) == ""
    assert [path.name for path in server.root.glob("again*")] == [name]


async def test_a_file_that_cannot_be_written_is_told_and_the_code_runs(
    there: GatewayKernels, server: Server, tmp_path: Path
) -> None:
    kernel, folder = await in_folder(there, server, "gone")
    folder.rmdir()
    (tmp_path / "data.csv").write_text("mine")
    carrier = FileCarrier(there)
    carrier.take(attach_elsewhere([str(tmp_path / "data.csv")]))
    assert (await carrier.before(CALL, kernel)).startswith("data.csv is not in the kernel's directory: ")


def test_what_is_attached_elsewhere_is_described_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (attached,) = attach_elsewhere([str(tmp_path / "data.csv")])
    assert attached.note.startswith("[Attachment: data.csv] It is in the kernel's working directory: ")
    assert (attached.name, attached.source) == ("data.csv", str(tmp_path / "data.csv"))
