"""Groups of entries in a profile: what they give, and the line of each mistake."""

from pathlib import Path

import pytest

from terp.settings.mcp_servers import McpServer
from terp.settings.profile_file import read_profile
from terp.settings.sources import Given

SERVERS = """\
mcp_servers:
  files:
    command: npx
    args: [-y, "@scope/files", "8080"]
    env: {TOKEN: "${TOKEN}"}
    timeout_s: 5
  my-web: {url: "https://h/mcp", headers: {Authorization: Bearer x}}
"""


def problems(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "work.yaml"
    path.write_text(text)
    return [problem.removeprefix(f"{path}:") for problem in read_profile(path).problems]


def test_servers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "work.yaml"
    path.write_text(SERVERS)
    profile = read_profile(path)
    assert (profile.problems, profile.given["mcp_servers"]) == (
        [],
        Given(
            {
                "files": McpServer(
                    command="npx",
                    args=("-y", "@scope/files", "8080"),
                    env={"TOKEN": "${TOKEN}"},
                    timeout_s=5,
                ),
                "my-web": McpServer(url="https://h/mcp", headers={"Authorization": "Bearer x"}),
            },
            f"{path}:1",
        ),
    )


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("a: {comand: x}", "2: unknown setting 'mcp_servers.a.comand'. Did you mean 'command'?"),
        (
            "a: {zzz: x}",
            "2: unknown setting 'mcp_servers.a.zzz'. There are: command, args, env, cwd, url, headers, "
            "timeout_s.",
        ),
        ("a:\n    command: x\n    command: y", "4: 'mcp_servers.a.command' is set twice."),
        ("a: {command: x}\n  a: {command: y}", "3: 'mcp_servers.a' is set twice."),
        ("2a: {command: x}", "2: 'mcp_servers': \"2a\" cannot be a name here."),
        ("a: x", "2: 'mcp_servers.a' is \"x\", must be a group of settings."),
        ("a: {}", "2: 'mcp_servers.a' needs a command, or a url."),
        (
            "a: {command: x, url: https://h}",
            "2: 'mcp_servers.a' has a command and a url, and can have only one.",
        ),
        (
            "a: {url: 'ftp://h'}",
            "2: 'mcp_servers.a' has the url \"ftp://h\", which must begin with http:// or https://.",
        ),
        (
            "a: {url: 'http://h', env: {A: b}}",
            "2: 'mcp_servers.a' has a url, so args, env and cwd have no effect.",
        ),
        ("a: {command: x, headers: {A: b}}", "2: 'mcp_servers.a' has a command, so headers have no effect."),
        (
            "a: {command: x, args: [1]}",
            "2: 'mcp_servers.a.args' is a list, must be a list of names. Put what is no text in quotes.",
        ),
        (
            "a: {command: x, env: {A: 1}}",
            "2: 'mcp_servers.a.env.A' is 1, must be text. Put it in quotes: \"1\".",
        ),
        (
            "a: {command: x, env: text}",
            "2: 'mcp_servers.a.env' is \"text\", must be a group of entries by name.",
        ),
        (
            "a: {command: x, timeout_s: -1}",
            "2: 'mcp_servers.a.timeout_s' is -1, must be a number, 0 or more.",
        ),
    ],
)
def test_a_mistake_in_a_server_has_its_line(tmp_path: Path, written: str, problem: str) -> None:
    assert problems(tmp_path, f"mcp_servers:\n  {written}\n") == [problem]


def test_servers_that_are_no_group_are_told(tmp_path: Path) -> None:
    assert problems(tmp_path, "mcp_servers: x\n") == [
        "1: 'mcp_servers' is \"x\", must be a group of entries by name."
    ]


FREE = """\
kernel_provisioner_config:
  hosts: [a, "b"]
  tries: 3
  share: 0.5
  queue: long
  exclusive: yes
  account:
  walltime: 1:30
  since: 2024-01-01
  limits: {memory: {soft: 1, hard: 2}}
"""


def test_free_entries_are_what_yaml_says_and_dates_are_text(tmp_path: Path) -> None:
    path = tmp_path / "work.yaml"
    path.write_text(FREE)
    profile = read_profile(path)
    assert (profile.problems, profile.given["kernel_provisioner_config"].value) == (
        [],
        {
            "hosts": ["a", "b"],
            "tries": 3,
            "share": 0.5,
            "queue": "long",
            "exclusive": True,
            "account": None,
            "walltime": "1:30",
            "since": "2024-01-01",
            "limits": {"memory": {"soft": 1, "hard": 2}},
        },
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tries=3]", "1: '{}' is a list, must be a group of entries by name, in a flag NAME=VALUE."),
        ("\n  a: 1\n  a: 2", "3: '{}.a' is set twice."),
        ("\n  a: {b: 1, b: 2}", "2: '{}.a' has a name twice."),
    ],
)
def test_mistakes_in_free_entries_have_their_line(tmp_path: Path, text: str, problem: str) -> None:
    name = "kernel_provisioner_config"
    assert problems(tmp_path, f"{name}: {text}\n") == [problem.format(name)]
