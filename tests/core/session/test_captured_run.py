from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, InputRequest, Text
from terp.events.settled import Displays
from terp.session.runs import CapturedRun
from terp.testing import EchoKernel


async def unserved(_: BackCall, __: Kernel) -> None:
    raise AssertionError("nothing is called")


async def test_lines_are_given_in_order_and_then_no_more() -> None:
    kernel = EchoKernel({"ask": [InputRequest("a? "), InputRequest("b? "), Text("stdout", "done")]})
    heard = CapturedRun(["1"], Displays(), unserved, 1000)
    assert await heard.run(kernel, "ask", timeout_s=0) == 0
    assert kernel.typed == ["1", None]
    assert list(heard.outputs) == [Text("stdout", "a? 1\nb? done")]
    assert heard.observed == "done"
