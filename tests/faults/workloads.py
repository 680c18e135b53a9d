"""What terp is killed in the middle of: code that leaves processes behind in every way, and then resists."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Workload:
    """Code that says "ready" and does not end; `bound_s` is how long its processes may outlive terp."""

    name: str
    language: str
    code: str
    flags: tuple[str, ...] = ()
    bound_s: float = 1.0
    without: tuple[str, ...] = field(default=())


# In the background, in another session, as daemons with and without an environment, deaf to hang-ups.
_LEAVE = """
exec >/dev/null 2>&1
sleep 300 & (sleep 300 &) ; setsid -f sleep 300 ; cd / ; setsid -f env -i sleep 300 ; nohup sleep 300 &
"""
_PYTHON = f"""
import ctypes, multiprocessing, re, signal, subprocess, time
subprocess.run({_LEAVE!r}, shell=True)
print("ready", flush=True)
time.sleep(0.05)
"""
_DEAF = """
def deaf():
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    time.sleep(300)
for _ in range(4):
    multiprocessing.get_context("fork").Process(target=deaf).start()
deaf()
"""
_DENO = f"""
new Deno.Command("sh", {{args: ["-c", {_LEAVE!r}]}}).outputSync();
console.log("ready");
await new Promise((soon) => setTimeout(soon, 50));
while (true);
"""
_R = f"""
invisible(system({_LEAVE!r}))
cat("ready\\n"); flush(stdout())
repeat {{}}
"""
_SHELL = f"""
({_LEAVE})
nohup sleep 300 >/dev/null 2>&1 &
echo ready; sleep 300
"""
_WORKSPACE = ("--sandbox", "workspace")

WORKLOADS = (
    Workload("code that waits", "python", f"{_PYTHON}time.sleep(300)"),
    Workload("C code that holds the lock of Python", "python", f"{_PYTHON}ctypes.PyDLL(None).sleep(300)"),
    Workload("a pattern without end", "python", f"{_PYTHON}re.match('(a+)+$', 'a' * 40 + 'b')"),
    Workload("processes that ignore all signals", "python", _PYTHON + _DEAF),
    Workload(
        "jobs of a shell", "shell", f"({_LEAVE})\nnohup sleep 300 >/dev/null 2>&1 &\necho ready; sleep 300"
    ),
    Workload("deno", "typescript", _DENO),
    Workload("R", "r", _R),
    Workload("bubblewrap", "python", f"{_PYTHON}time.sleep(300)", _WORKSPACE, bound_s=2.0),
    Workload("Landlock", "python", f"{_PYTHON}time.sleep(300)", _WORKSPACE, without=("bwrap",)),
)
