import subprocess
import sys
from pathlib import Path

import pytest

from terp.events import ModelCalled, TurnStarted, UsageReported
from terp.models.facts.model_facts import ModelFacts, Window
from terp.session.cost.ledger import Ledger, LedgerAccount
from terp.session.resources import Limits
from terp.settings import Settings
from terp.settings.setting import table
from terp.settings.sources import Given, combine
from terp.testing import collect
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.here import Here
from tests.core.store.keeping import kept

USED = (UsageReported(1_200, 30, 1_000, 0.0042), UsageReported(1_300, 20, 0, None))


async def test_every_setting_is_shown_with_its_origin(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.settings = combine([{"model": Given("openai/o3", "work.yaml:7"), "auto_run": Given(True, "-y")}])
    lines = [line.split() for line in await here.does("/settings all")]
    assert [line[0] for line in lines] == list(table(Settings))
    assert {line[0]: line[1:] for line in lines}["model"] == ["openai/o3", "work.yaml:7"]
    assert {line[0]: line[1:] for line in lines}["auto_run"] == ["on", "-y"]
    assert {line[0]: line[1:] for line in lines}["python"] == ["–", "built-in"]


async def test_settings_that_differ_from_the_built_in_ones_come_first(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.settings = combine([{"model": Given("openai/o3", "work.yaml:7"), "max_steps": Given(50, "-y")}])
    assert await here.does("/settings") == [
        "model  openai/o3  work.yaml:7",
        "All others are built-in: /settings all. /settings NAME VALUE sets one.",
    ]


async def test_a_setting_is_set_until_the_session_ends(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert await here.does("/settings max-steps 5") == [
        "  max_steps  50 → 5  /settings",
        "It holds until the session ends; config.yaml and profiles keep values.",
    ]
    assert (await here.does("/settings"))[0] == "max_steps  5  /settings"
    assert here.session.resources.limits.max_steps == 5
    assert await here.does("/settings max_steps=5") == ["max_steps is 5 already."]


async def test_a_profile_is_weaker_than_a_setting_that_was_set(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/settings max_steps 5")
    await here.does("/profile fast")
    assert here.settings.max_steps == 5


async def test_a_wrong_value_changes_no_setting(tmp_path: Path) -> None:
    here = Here(tmp_path)
    with pytest.raises(Misused, match='max_steps is "many", must be a whole number, 0 or more'):
        await here.does("/settings max_steps many")
    assert here.settings.max_steps == 50


async def test_auto_run_can_be_set_like_any_other(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("/settings auto_run on")
    assert here.auto_run


def test_the_values_of_a_setting_are_completed(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert here.offered("settings", "auto_run o") == ["auto_run on", "auto_run off"]
    assert here.offered("settings", "adapter d") == ["adapter direct"]
    assert here.offered("settings", "al") == ["all", "allow"]


async def test_one_setting_is_explained(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/settings max-steps") == [
        "model replies in one turn before it stops",
        "max_steps  50  built-in",
    ]


async def test_a_setting_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="there is no setting like 'colour'"):
        await Here(tmp_path).does("/settings colour")


async def test_tokens_are_those_of_the_whole_request(tmp_path: Path) -> None:
    here = await Here(tmp_path).asked("How many?")
    here.model.name = "openai/gpt-4o"
    here.session.resources.windows = lambda _: Window(128_000)
    here.session.log.append(USED[0])
    system, tools, conversation, together, how, price, last = await here.does("/tokens")
    parts = [int(line.split()[-1]) for line in (system, tools, conversation)]
    assert (
        together
        == f"  together       about {sum(parts)} tokens, {100 * sum(parts) / 128_000:.1f} % of 128,000"
    )
    assert how == "An estimate, by its characters."
    assert price == "Sending it costs $0.0004 by the list price; the reply is not in that."
    assert last == (
        "The last request was 1,200 tokens, 1,000 of them cached, its reply 30, as the provider counted."
    )


async def test_tokens_of_another_model_are_an_estimate(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.model.name = "mine/unheard-of"
    *_, together, how = await here.does("/tokens and these")
    assert together.startswith("  together       about ")
    assert how == "An estimate, by its characters."


async def test_the_models_that_are_known_here_are_offered(tmp_path: Path) -> None:
    keys = {"ANTHROPIC_API_KEY": "x", "MISTRAL_API_KEY": "y"}
    here = Here(tmp_path, ModelCalled("openai/o3", 1), ModelCalled("groq/llama", 2), environ=keys)
    here.model.name = "openai/gpt-4o"
    here.places.profiles.mkdir(parents=True)
    (here.places.profiles / "work.yaml").write_text("model: ollama/qwen3\n")
    before = kept(here.places.sessions / "2026-11-20-abcd", "hello")
    await collect(before, "hi")
    await before.aclose()
    assert here.offered("model", "") == [
        "groq/llama",
        "openai/o3",
        "openai/gpt-4o",
        "scripted/model",
        "ollama/qwen3",
        "anthropic/claude-sonnet-5-5",
        "mistral/mistral-large-latest",
    ]
    assert here.offered("model", "Qwen") == ["ollama/qwen3"]


def test_offering_models_imports_nothing_that_is_slow(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.cli.repl.commands.here import Here; "
        "from terp_cli.repl.commands.switches import known_models; "
        "list(known_models(Here(Path(sys.argv[1])), '')); "
        "print(sorted({'litellm', 'httpx', 'rich'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


async def test_info_names_model_session_and_kernels(tmp_path: Path) -> None:
    lines = await (await Here(tmp_path).asked("a")).does("%info")
    assert [line.split()[0] for line in lines] == [
        "terp", "system", "model", "profile", "session", "files", "turns", "approval", "not"
    ]  # fmt: skip
    assert lines[-1].split() == ["not", "started", "python"]


async def test_the_doctor_reports_inside_a_running_loop(tmp_path: Path) -> None:
    lines = await Here(tmp_path).does("/doctor")
    assert any("packages" in line for line in lines)


@pytest.mark.parametrize(
    ("line", "on", "last"),
    [
        ("/auto_run off", False, "You are asked before code runs."),
        (
            "/auto_run on",
            True,
            "Code runs without asking. No sandbox: it can do whatever you can do on this "
            "machine and over the network.",
        ),
        ("%auto_run true", True, None),
    ],
)
async def test_running_unasked_is_switched_and_what_it_means_is_said(
    tmp_path: Path, line: str, on: bool, last: str | None
) -> None:
    here = Here(tmp_path)
    said = await here.does(line)
    assert (here.auto_run, said[-1]) == (on, last or said[-1])


@pytest.mark.parametrize("yes", [True, False])
async def test_running_unasked_is_offered_where_nothing_is_said(tmp_path: Path, yes: bool) -> None:
    here = Here(tmp_path)
    here.user.yes = yes
    said = await here.does("/auto_run")
    assert "? Run code without asking from now on?" in said
    assert here.auto_run is yes


async def test_other_switches_take_the_words_of_open_interpreter(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await here.does("%verbose")
    await here.does("%debug true")
    assert (here.front.verbose, here.debug) == (True, True)
    await here.does("%verbose false")
    assert here.front.verbose is False
    with pytest.raises(Misused, match="/debug: 'perhaps' is neither on nor off"):
        await here.does("%debug perhaps")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/debug", ["Debug output is on", "Debug output is off"]),
        ("/verbose", ["Verbose output is on", "Verbose output is off"]),
    ],
)
async def test_a_switch_without_a_word_is_turned_and_tells_how_it_is_now(
    command: str, told: list[str], tmp_path: Path
) -> None:
    here = Here(tmp_path)
    said = [line for _ in range(2) for line in await here.does(command)]
    assert [line.partition(":")[0] for line in said] == told


NOON = 1_795_348_800.0
CACHED = UsageReported(12_000, 300, 10_000, 0.0213, "openai/gpt-4o", 4.5)
UNKNOWN = UsageReported(1_300, 20, 0, None, "mine/llama", 0.25)


async def test_nothing_is_told_of_what_was_not_asked(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/cost") == ["No model has been called yet."]


async def test_the_last_turn_is_told_beside_the_session_and_the_cache(tmp_path: Path) -> None:
    here = Here(tmp_path, TurnStarted("a"), CACHED, TurnStarted("b"), CACHED)
    assert await here.does("/cost") == [
        "         requests  sent    cached  received  seconds  cost",
        "turn     1         12,000  10,000  300       4.5      $0.0213",
        "session  2         24,000  20,000  600       9.0      $0.0426",
        "The provider's cache has saved about $0.0250 of what the session would have cost.",
    ]


async def test_several_models_have_a_row_each_and_no_unknown_price_is_nothing(tmp_path: Path) -> None:
    here = Here(tmp_path, TurnStarted("a"), CACHED, UNKNOWN)
    here.session.resources.prices = lambda _: ModelFacts()
    assert await here.does("/cost") == [
        "                 requests  sent    cached  received  seconds  cost",
        "turn             2         13,300  10,000  320       4.8      $0.0213, and 1",
        "                                                              request not known",
        "session          2         13,300  10,000  320       4.8      $0.0213, and 1",
        "                                                              request not known",
        "  openai/gpt-4o  1         12,000  10,000  300       4.5      $0.0213",
        "  mine/llama     1         1,300   0       20        0.2      not known",
        "The price of mine/llama is not known. The settings input_price and output_price can give it.",
    ]


async def test_a_turn_that_goes_on_is_one_with_what_came_before(tmp_path: Path) -> None:
    here = Here(tmp_path, TurnStarted("a"), CACHED, TurnStarted("a", continued=True), CACHED)
    assert (await here.does("/cost"))[1].split()[:2] == ["turn", "2"]


async def test_limits_and_the_month_of_the_profile_are_told(tmp_path: Path) -> None:
    here = Here(tmp_path, TurnStarted("a"), CACHED)
    ledger = Ledger(tmp_path / "usage", lambda: NOON)
    for profile, session in (("work", "earlier"), ("work", "s1"), ("play", "s2")):
        ledger.add(profile, session, CACHED)
    here.session.resources.account = LedgerAccount(ledger, "work", "s1")
    here.session.resources.limits = Limits(max_turn_usd=0.5, max_budget_usd=1, max_month_usd=30)
    _, turn, session, month, _ = await here.does("/cost")
    assert turn.endswith("$0.0213 of $0.5000")
    assert session.endswith("$0.0213 of $1.00")
    assert month == "work, 2026-11  2         24,000  20,000  600       9.0      $0.0426 of $30.00"


async def test_a_limit_stands_beside_what_counts_for_it(tmp_path: Path) -> None:
    here = Here(tmp_path, TurnStarted("a"), CACHED, UNKNOWN)
    here.session.resources.limits = Limits(max_budget_usd=1)
    said = " ".join(" ".join(await here.does("/cost")).split())
    assert "$0.0213 of $1.00, and 1 request not known" in said
