"""What code plants in folders that terp uses itself leads terp, which nothing confines, nowhere."""

from collections.abc import AsyncGenerator

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.denials import denials_of
from tests.sandbox.held import TIERS, held_kernels, printed_by, tier_named
from tests.sandbox.world import CANARY, World

EACH_TIER = pytest.mark.parametrize("tier", TIERS, indirect=True, scope="package")
# The folder in which the kernel has its log and its sockets.
OWN = "import os, shutil; own = os.path.dirname(os.environ['IPYTHONDIR'])"
END = "import os; os._exit(3)"


@pytest.fixture
async def trapped(tier: str) -> AsyncGenerator[tuple[World, LocalKernels], None]:
    world = World()
    kernels = held_kernels(world, tier_named(tier)[0], network=True)
    yield world, kernels
    await kernels.aclose()
    world.close()


@EACH_TIER
async def test_the_last_words_of_a_kernel_are_its_own(trapped: tuple[World, LocalKernels]) -> None:
    world, kernels = trapped
    planted = f"{OWN}; os.remove(own + '/log'); os.symlink('{world.home}/.ssh/id_rsa', own + '/log')"
    told = await printed_by(kernels.get("python"), f"{planted}; os._exit(3)")
    assert ("[died]" in told, CANARY in told) == (True, False)


@EACH_TIER
@pytest.mark.parametrize("name", ["log", "stack"])
async def test_a_pipe_in_the_place_of_a_file_lets_nobody_wait(
    trapped: tuple[World, LocalKernels], name: str
) -> None:
    _, kernels = trapped
    python = kernels.get("python")
    planted = f"{OWN}; path = own + '/{name}'; os.path.exists(path) and os.remove(path); os.mkfifo(path)"
    assert "[died]" in await printed_by(python, f"{planted}; os._exit(3)")
    assert await printed_by(python, "print(1)") == "1\n\n[ok] "


@EACH_TIER
@pytest.mark.parametrize("name", [".idea", ".envrc"])
async def test_a_link_to_a_secret_is_none_of_the_files_that_are_protected(
    trapped: tuple[World, LocalKernels], name: str
) -> None:
    world, kernels = trapped
    python, secret = kernels.get("python"), f"{world.home}/.ssh/id_rsa"
    await printed_by(python, f"import os; os.symlink('{secret}', '{name}')")
    await printed_by(python, END)
    assert CANARY not in await printed_by(python, f"print(open('{secret}').read())")


@EACH_TIER
async def test_what_was_allowed_cannot_become_a_way_elsewhere(trapped: tuple[World, LocalKernels]) -> None:
    world, kernels = trapped
    python = kernels.get("python")
    await printed_by(python, "import os; os.mkdir('.idea')")
    kernels.confinement.allow(".idea")
    await printed_by(python, f"os.rmdir('.idea'); os.symlink('{world.home}', '.idea')")
    await printed_by(python, END)
    written = await printed_by(python, f"open('{world.home}/.bashrc', 'a').write('x')")
    assert (world.damage(written), "Error" in written) == ("", True)


@EACH_TIER
@pytest.mark.parametrize(
    "name",
    [
        ".git/commondir",
        ".git/config.worktree",
        ".git/info/attributes",
        ".husky",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".mcp.json",
    ],
)
async def test_new_configuration_of_other_programs_is_told(
    trapped: tuple[World, LocalKernels], name: str
) -> None:
    world, kernels = trapped
    python = kernels.get("python")
    await python.start()
    denials = denials_of(kernels.confinement, python)
    made = "os.makedirs(os.path.dirname(path) or '.', exist_ok=True); open(path, 'w').write('../evil')"
    await printed_by(python, f"import os; path = {name!r}; {made}")
    assert denials.message() == (
        f"Changed: {world.proj}/{name}, which other programs obey. Look at it before you use them here."
    )


@pytest.mark.parametrize("tier", ["bubblewrap"], indirect=True, scope="package")
@pytest.mark.parametrize("git", ["sub/.git", ".git/modules/lib"])
async def test_repositories_below_keep_their_configuration(
    trapped: tuple[World, LocalKernels], git: str
) -> None:
    world, kernels = trapped
    config = world.proj / git / "config"
    (config.parent / "hooks").mkdir(parents=True)
    (config.parent / "HEAD").touch()
    config.write_text("as it was")
    for code in (f"open('{config}', 'w')", f"open('{config.parent}/hooks/pre-commit', 'w')"):
        assert "Read-only file system" in await printed_by(kernels.get("python"), code)


NAMED = "[core]\n hooksPath = .githooks\n[include]\n path = ../gitconfig.inc\n"
PLANTED = """
for path in (".githooks/pre-commit", "gitconfig.inc"):
    try:
        open(path, "w").write("planted")
    except OSError as error:
        print(error)
"""


@pytest.fixture
def named(trapped: tuple[World, LocalKernels]) -> World:
    """A world whose project has hooks and an included file where git's configuration says."""
    world, _ = trapped
    (world.proj / ".git" / "config").write_text(NAMED)
    (world.proj / ".githooks").mkdir()
    (world.proj / ".githooks" / "pre-commit").write_text("as it was")
    (world.proj / "gitconfig.inc").write_text("")
    return world


@pytest.mark.parametrize("tier", ["bubblewrap"], indirect=True, scope="package")
async def test_what_the_configuration_of_git_names_is_kept(
    trapped: tuple[World, LocalKernels], named: World
) -> None:
    told = await printed_by(trapped[1].get("python"), PLANTED)
    assert told.count("Read-only file system") == 2
    assert (named.proj / ".githooks/pre-commit").read_text() == "as it was"


@pytest.mark.parametrize("tier", ["Landlock"], indirect=True, scope="package")
async def test_what_the_configuration_of_git_names_is_told(
    trapped: tuple[World, LocalKernels], named: World
) -> None:
    _, kernels = trapped
    python = kernels.get("python")
    await python.start()
    denials = denials_of(kernels.confinement, python)
    await printed_by(python, PLANTED)
    assert denials.message().startswith(
        f"Changed: {named.proj}/.githooks, {named.proj}/gitconfig.inc, which other programs obey."
    )


@pytest.mark.parametrize("tier", ["bubblewrap"], indirect=True, scope="package")
async def test_a_repository_of_this_session_can_be_removed_again(
    trapped: tuple[World, LocalKernels],
) -> None:
    world, kernels = trapped
    await printed_by(kernels.get("shell"), "git init -q made")
    removed = await printed_by(kernels.get("python"), "import shutil; shutil.rmtree('made')")
    assert (removed, (world.proj / "made").exists()) == ("\n[ok] ", False)
