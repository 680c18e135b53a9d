"""Files of a session: what goes in comes out, and nothing of any other place."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from terp.testing import call
from terp_cli.server.connections import ServerLimits
from terp_cli.server.failures import RequestRefused
from terp_cli.server.tree import Tree
from tests.cli.server.serving import BYTES, Running, decision, events_of, serving, until


async def put(server: Running, session: str, path: str, content: bytes) -> int:
    answer = await server.client.put(f"/v1/sessions/{session}/files/{path}", content=content, headers=BYTES)
    return answer.status_code


async def got(server: Running, session: str, path: str, **headers: str) -> tuple[int, bytes]:
    answer = await server.client.get(f"/v1/sessions/{session}/files/{path}", headers=headers)
    return answer.status_code, answer.content


def work(server: Running, session: str) -> Path:
    return server.sessions.workspaces.work / session


async def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    async with serving(tmp_path) as server:
        session = await server.created()
        names = ["data.bin", "a name with spaces.txt", "sub/汉字.csv", "ünï/code/x.py"]
        statuses = [await put(server, session, name, content) for name in names]
        back = [await got(server, session, name) for name in names]
        listed = (await server.client.get(f"/v1/sessions/{session}/files")).json()
    assert statuses == [200] * 4
    assert back == [(200, content)] * 4
    assert [one["path"] for one in listed["files"]] == sorted(names, key=lambda name: name.split("/"))
    assert {one["size"] for one in listed["files"]} == {len(content)}


async def test_files_with_names_that_only_this_system_takes_are_listed_and_sent(tmp_path: Path) -> None:
    names = ["12:00.csv", "a\tb\nc.txt", "back\\slash", "con.txt", "dot.", 'q"<uo|te>*?']
    async with serving(tmp_path) as server:
        session = await server.created()
        for name in names:
            (work(server, session) / name).write_text(name)
        listed = (await server.client.get(f"/v1/sessions/{session}/files")).json()
        back = [await got(server, session, quote(name)) for name in names]
        packed = await server.client.get(f"/v1/sessions/{session}/archive")
        put_there = [await put(server, session, quote(name), b"") for name in names]
    assert [one["path"] for one in listed["files"]] == names
    assert back == [(200, name.encode()) for name in names]
    assert zipfile.ZipFile(io.BytesIO(packed.content)).namelist() == names
    assert put_there == [404] * len(names)


async def test_a_range_of_a_file_is_sent(tmp_path: Path) -> None:
    ranges = ["bytes=0-3", "bytes=4-", "bytes=-2", "bytes=8-99", "bytes=10-", "lines=1-2", "bytes=0-1,3-4"]
    async with serving(tmp_path) as server:
        session = await server.created()
        await put(server, session, "digits", b"0123456789")
        found = {wanted: await got(server, session, "digits", Range=wanted) for wanted in ranges}
    assert found.pop("bytes=10-")[0] == 416
    assert found == {
        "bytes=0-3": (206, b"0123"),
        "bytes=4-": (206, b"456789"),
        "bytes=-2": (206, b"89"),
        "bytes=8-99": (206, b"89"),
        "lines=1-2": (200, b"0123456789"),
        "bytes=0-1,3-4": (200, b"0123456789"),
    }


async def test_all_files_come_in_one_archive(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        session = await server.created()
        await put(server, session, "a.txt", b"one")
        await put(server, session, "sub/b.txt", b"two")
        answer = await server.client.get(f"/v1/sessions/{session}/archive")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "a.txt": b"one",
            "sub/b.txt": b"two",
        }


async def test_a_file_is_shown_by_no_browser_as_a_page_of_the_server(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        session = await server.created()
        await put(server, session, "page.html", b"<script>alert(1)</script>")
        answer = await server.client.get(f"/v1/sessions/{session}/files/page.html")
    kept = ("content-type", "x-content-type-options", "content-security-policy", "content-disposition")
    assert [answer.headers[name] for name in kept] == [
        "application/octet-stream",
        "nosniff",
        "default-src 'none'; sandbox",
        "attachment; filename=\"page.html\"; filename*=UTF-8''page.html",
    ]


NAMES = [
    "..%2fsecret",
    "%2e%2e%2fsecret",
    "%2e%2e/secret",
    "a/%2e%2e/%2e%2e/secret",
    "..%5csecret",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "a//b",
    "a%00.txt",
    "a%0a.txt",
    ".env",
    "sub/.git/config",
    "nul",
    "CON.txt",
    "com1",
    "lpt9.csv",
    "trailing.",
    "trailing%20",
    "a:stream",
    "x" * 256,
    "%e6%b1%89" * 86,
    "/".join("d" * 40),
    "%2e",
    "",
]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, method: str) -> None:
    async with serving(tmp_path) as server:
        session = await server.created()
        (work(server, session).parent / "secret").write_text("secret")
        more: dict[str, Any] = {"content": b"x", "headers": BYTES} if method == "PUT" else {}
        url = f"{server.url}/v1/sessions/{session}/files"
        answers = {name: await server.client.request(method, f"{url}/{name}", **more) for name in NAMES}
        statuses = {name: one.status_code for name, one in answers.items()}
        assert {name: status for name, status in statuses.items() if status not in (404, 405)} == {}
        assert (work(server, session).parent / "secret").read_text() == "secret"
        assert list(work(server, session).rglob("*")) == []


async def test_the_longest_name_is_taken(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        assert await put(server, await server.created(), "x" * 255, b"x") == 200


async def test_links_devices_and_pipes_are_no_files(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    async with serving(tmp_path) as server:
        session = await server.created()
        folder = work(server, session)
        (folder / "link").symlink_to(outside / "secret")
        (folder / "folder").symlink_to(outside)
        os.mkfifo(folder / "pipe")
        (folder / "device").symlink_to("/dev/zero")
        names = ["link", "folder/secret", "pipe", "device"]
        read = [(await got(server, session, name))[0] for name in names]
        listed = (await server.client.get(f"/v1/sessions/{session}/files")).json()["files"]
        attached = await server.client.post(
            f"/v1/sessions/{session}/turns", json={"prompt": "read", "attachments": ["link"]}
        )
        written = [await put(server, session, name, b"mine") for name in ("link", "folder/new")]
    assert (read, listed, attached.status_code) == ([404] * 4, [], 404)
    assert written == [200, 404]
    assert ((outside / "secret").read_text(), [one.name for one in outside.iterdir()]) == (
        "secret",
        ["secret"],
    )


async def test_a_directory_swapped_for_a_link_while_a_file_is_written_leads_nowhere(tmp_path: Path) -> None:
    outside, top = tmp_path / "outside", tmp_path / "top"
    outside.mkdir()
    tree = Tree(top)

    async def pieces() -> Any:
        yield b"one "
        (top / "sub").rename(top / "moved")
        (top / "sub").symlink_to(outside)
        yield b"two"

    assert await tree.write("sub/file", pieces()) == 7
    assert list(outside.iterdir()) == []
    assert (top / "moved" / "file").read_bytes() == b"one two"


async def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "top")

    async def pieces() -> Any:
        yield b"one "
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await tree.write("file", pieces())
    assert list((tmp_path / "top").iterdir()) == []


async def test_files_of_terps_own_are_none_of_a_session(tmp_path: Path) -> None:
    top, own = tmp_path / "top", tmp_path / "top" / "terp"
    own.mkdir(parents=True)
    (own / "config.yaml").write_text("auto_run: false")
    tree = Tree(top, [own])

    async def pieces() -> Any:
        yield b"auto_run: true"

    with pytest.raises(RequestRefused):
        await tree.write("terp/config.yaml", pieces())
    with pytest.raises(RequestRefused):
        tree.read("terp/config.yaml")
    assert tree.listed() == ([], False)
    assert (own / "config.yaml").read_text() == "auto_run: false"


async def test_a_session_works_below_the_root_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for folder in ("root/sub", "root/.hidden", "root-secret", "state", "config"):
        (tmp_path / folder).mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "root-secret")
    wishes = ["sub", str(root / "sub"), ".", "", "../root-secret", str(tmp_path / "root-secret"), "link"]
    wishes += [".hidden", "/", "/etc", "..", "sub/../..", "missing", str(tmp_path / "state"), "a\0b"]
    async with serving(tmp_path) as server:
        statuses = {
            cwd: (await server.client.post("/v1/sessions", json={"cwd": cwd})).status_code for cwd in wishes
        }
    assert [cwd for cwd, status in statuses.items() if status == 201] == ["sub", str(root / "sub"), ".", ""]
    assert {status for status in statuses.values() if status != 201} == {404, 409}


async def test_an_upload_past_its_limit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async def chunked() -> Any:
        for _ in range(20):
            yield b"x" * 1_000

    async with serving(tmp_path, limits=ServerLimits(upload=10_000)) as server:
        session = await server.created()
        announced = await put(server, session, "a", b"x" * 20_000)
        path = f"/v1/sessions/{session}/files/b"
        counted = await server.client.put(path, content=chunked(), headers=BYTES)
        left = list(work(server, session).iterdir())
    assert (announced, counted.status_code, left) == (413, 413, [])


async def test_a_file_can_be_attached(tmp_path: Path) -> None:
    async with serving(tmp_path, "hello") as server:
        session = await server.created()
        await put(server, session, "a.csv", b"x,y\n1,2\n")
        path = f"/v1/sessions/{session}/turns"
        body = {"prompt": "read it", "attachments": ["a.csv"]}
        async with server.client.stream("POST", path, json=body) as answer:
            events = events_of(answer)
            started = await until(events, "turn_started")
            await until(events, "turn_finished")
    assert started["attachments"] == ["a.csv"]


async def test_the_full_output_of_a_run_can_be_read_by_its_number(tmp_path: Path) -> None:
    async with serving(tmp_path, call("print(1)"), "done") as server:
        session = await server.created()
        path = f"/v1/sessions/{session}"
        async with server.client.stream("POST", f"{path}/turns", json={"prompt": "go"}) as answer:
            events = events_of(answer)
            proposed = await until(events, "code_proposed")
            await server.client.post(f"{path}/approvals/c1", json=decision(proposed))
            await until(events, "turn_finished")
        whole = await server.client.get(f"{path}/outputs/1")
        part = await server.client.get(f"{path}/outputs/1.txt", headers={"Range": "bytes=0-4"})
        wrong = [
            (await server.client.get(f"{path}/outputs/{name}")).status_code
            for name in ("2", "..%2fevents.jsonl", "%2e%2e")
        ]
        kinds = "ipynb", "py", "md", "html"
        pages = [await server.client.get(f"{path}/export?format={kind}") for kind in kinds]
    assert (whole.text, part.status_code, part.text) == ("print(1)\n", 206, "print")
    assert wrong == [404, 404, 404]
    assert all("print(1)" in page.text for page in pages)
