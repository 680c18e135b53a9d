"""Honest code, which must work confined as it does otherwise, with the network open."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """Code and what it prints at the end when it works."""

    name: str
    code: str
    prints: str
    language: str = "python"


CLOSED = (
    "files here", "pandas", "matplotlib", "processes", "shared memory", "what a process prints", "asyncio",
    "sqlite", "subprocess", "git",
)  # fmt: skip
"""Those that are tried without the network, too."""


WORKLOADS = (
    Workload("files here", "open('a.txt', 'w').write('it'); print(open('a.txt').read())", "it"),
    Workload("folders here", "import os; os.makedirs('a/b'); os.rename('a/b', 'a/d'); print(os.listdir('a')); os.removedirs('a/d')", "['d']"),
    Workload("temporary files", "import tempfile; f = tempfile.NamedTemporaryFile(); f.write(b'x'); print('tmp', f.name[:1])", "tmp /"),
    Workload("temporary folders", "import tempfile, os; d = tempfile.mkdtemp(); open(d + '/x', 'w'); print(os.listdir(d))", "['x']"),
    Workload("files of the person", "print(open('HOME_/notes.txt').read())", "not secret"),
    Workload("the home folder", "import os; print('notes.txt' in os.listdir('HOME_'))", "True"),
    Workload("permissions here", "import os; open('m', 'w'); os.chmod('m', 0o1755); os.close(os.open('m', os.O_RDWR)); print(oct(os.stat('m').st_mode))", "0o101755"),
    Workload("pandas", "import pandas as pd; pd.DataFrame({'a': [1, 2]}).to_csv('t.csv'); print(pd.read_csv('t.csv').a.sum())", "3"),
    Workload("pandas in pickles", "import pandas as pd; pd.Series([1, 2]).to_pickle('s.pkl'); print(pd.read_pickle('s.pkl').sum())", "3"),
    Workload("numpy", "import numpy as np; print(int((np.arange(1000) @ np.ones(1000))))", "499500"),
    Workload("numpy in mapped files", "import numpy as np; m = np.memmap('m', mode='w+', shape=9); m[:] = 2; print(int(m.sum()))", "18"),
    Workload("matplotlib", "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.savefig('p.png'); print(open('p.png', 'rb').read(4)[1:])", "PNG"),
    Workload("figures", "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()", "image/png"),
    Workload("processes", "import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, -2]))", "[1, 2]"),
    Workload("shared memory", "from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=9); m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()", "7"),
    Workload("locks of processes", "import multiprocessing as m; l = m.Lock(); print(l.acquire())", "True"),
    Workload("queues of processes", "import multiprocessing as m; q = m.Queue(); q.put(5); print(q.get(timeout=5))", "5"),
    Workload("a manager of processes", "import multiprocessing as m; print(m.Manager().list([1, 2]))", "[1, 2]"),
    Workload("what a process prints", "import multiprocessing as m; p = m.Process(target=print, args=('child',)); p.start(); p.join(); import time; time.sleep(0.3)", "child"),
    Workload("a pool of threads", "from concurrent.futures import *; print(list(ThreadPoolExecutor().map(abs, [-3])))", "[3]"),
    Workload("a pool of processes", "from concurrent.futures import *\nwith ProcessPoolExecutor(2) as p: print(list(p.map(abs, [-3])))", "[3]"),
    Workload("asyncio", "import asyncio; await asyncio.sleep(0); print('slept')", "slept"),
    Workload("asyncio with processes", "import asyncio; p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1); print((await p.communicate())[0])", "hi"),
    Workload("a server of its own", """
import http.server, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").status)
server.shutdown()
""", "200"),
    Workload("sqlite", "import sqlite3; c = sqlite3.connect('d.db'); c.execute('create table if not exists t (x)'); c.execute('insert into t values (4)'); c.commit(); print(c.execute('select max(x) from t').fetchone())", "(4,)"),
    Workload("sqlite with a log", "import sqlite3; c = sqlite3.connect('w.db'); print(c.execute('pragma journal_mode=wal').fetchone())", "wal"),
    Workload("duckdb", "import duckdb; print(duckdb.connect('d.duck').execute('select 6 * 7').fetchall())", "[(42,)]"),
    Workload("subprocess", "import subprocess; print(subprocess.run(['ls', '/'], capture_output=True, text=True).stdout.count('etc'))", "1"),
    Workload("a terminal of its own", "import pty, os; m, s = pty.openpty(); os.write(s, b'hi'); print(os.read(m, 2))", "hi"),
    Workload("random numbers", "import secrets, os; print(len(secrets.token_bytes(9)) + len(os.urandom(1)))", "10"),
    Workload("signals of its own", "import os, signal; signal.signal(signal.SIGALRM, lambda *_: print('rang')); signal.setitimer(signal.ITIMER_REAL, 0.01); import time; time.sleep(0.1)", "rang"),
    Workload("its children's ends", "import subprocess; p = subprocess.Popen(['sleep', '9']); p.terminate(); print(p.wait())", "-15"),
    Workload("archives", "import zipfile; zipfile.ZipFile('z.zip', 'w').writestr('a', 'b'); print(zipfile.ZipFile('z.zip').read('a'))", "b'b'"),
    Workload("pillow", "from PIL import Image; Image.new('RGB', (2, 2)).save('i.png'); print(Image.open('i.png').size)", "(2, 2)"),
    Workload("modules here", "open('mine.py', 'w').write('x = 8'); import importlib; importlib.invalidate_caches(); import sys; sys.path.insert(0, ''); import mine; print(mine.x)", "8"),
    Workload("time zones", "import zoneinfo; print(zoneinfo.ZoneInfo('Europe/Berlin'))", "Europe/Berlin"),
    Workload("facts of the machine", "import os, platform; print(os.cpu_count() > 0, platform.system())", "True Linux"),
    Workload("psutil", "import psutil, os; print(psutil.Process().memory_info().rss > 0, psutil.virtual_memory().total > 0)", "True True"),
    Workload("its own limits and priority", """
import os, resource
own = os.getpid()
resource.prlimit(own, resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own))
os.sched_setaffinity(own, os.sched_getaffinity(own))
os.sched_setscheduler(own, os.SCHED_OTHER, os.sched_param(0))
print("as they were", os.nice(0) == os.getpriority(os.PRIO_PROCESS, 0))
""", "as they were True"),
    Workload("priorities of its children", "nice -n 1 sh -c 'ulimit -c 0; nice'", "1", "shell"),
    Workload("magics of a shell", "!echo magic", "magic"),
    Workload("timing", "%timeit -n1 -r1 sum(range(9))", "loop"),
    Workload("git", "repo=$(mktemp -d -p .) && git init -q $repo && cd $repo && echo a > f && git add f && git -c user.name=a -c user.email=b commit -qm one && git log --oneline | wc -l; cd ..", "1", "shell"),
    Workload("git in the project", "rm -rf other && git init -q other && git -C other -c user.name=a -c user.email=b commit -q --allow-empty -m one && git --git-dir=other/.git log --format=%s", "one", "shell"),
    Workload("pipes", "seq 100 | sort -rn | head -1", "100", "shell"),
    Workload("background jobs", "sleep 0.05 & wait; echo done", "done", "shell"),
    Workload("here documents", "cat <<END\nhere\nEND", "here", "shell"),
    Workload("process substitution", "diff <(echo a) <(echo a) && echo same", "same", "shell"),
    Workload("a temporary file in a shell", "f=$(mktemp) && echo x > $f && cat $f", "x", "shell"),
    Workload("awk and sed", "echo 1 2 | awk '{print $1 + $2}' | sed s/3/three/", "three", "shell"),
    Workload("a virtual environment", "import sys, subprocess; r = subprocess.run([sys.executable, '-m', 'venv', '--without-pip', 'env']); print(r.returncode)", "0"),
    Workload("pip from a folder", """
import subprocess, sys, os
os.makedirs("wheels/pkg", exist_ok=True)
import zipfile
with zipfile.ZipFile("wheels/tiny-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny.py", "x = 3")
    wheel.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n")
    wheel.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("tiny-1.dist-info/RECORD", "")
command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--find-links", "wheels", "--target", "libs", "tiny"]
print(subprocess.run(command, capture_output=True, text=True))
sys.path.append("libs")
import tiny
print("tiny", tiny.x)
""", "tiny 3"),
)  # fmt: skip
