"""How an exported page looks, in light and in dark."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

STYLE = """\
:root { --ground: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --soft: #f6f8fa;
  --accent: #0969da; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ground: #0d1117; --ink: #e6edf3; --dim: #9198a1;
  --line: #3d444d; --soft: #161b22; --accent: #58a6ff; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; }
header p, .label, .note { color: var(--dim); font-size: .85rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
a { color: var(--accent); }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
pre { margin: .4rem 0; padding: .7rem .9rem; overflow-x: auto; overflow-wrap: normal; white-space: pre;
  font: 13.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace;
  unicode-bidi: isolate; tab-size: 4; }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace;
  background: var(--soft); padding: .1em .3em; border-radius: 4px; }
.code { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
pre.stdout, pre.stderr, pre.out, pre.bad { border-left: 3px solid var(--line); padding-block: .2rem;
  max-height: 40rem; overflow-y: auto; }
pre.stderr { color: var(--dim); }
pre.bad { border-left-color: var(--bad); }
.bad { color: var(--bad); }
.prompt { margin: 2rem 0 1rem; padding: .6rem 1rem; background: var(--soft); border-radius: 8px;
  border-left: 4px solid var(--accent); }
.prompt p { margin: 0; white-space: pre-wrap; font-weight: 600; }
.prompt .note { font-weight: 400; }
details { margin: 1rem 0; color: var(--dim); font-size: .9rem; }
summary { cursor: pointer; }
.run { margin: 1rem 0; }
.run.not > .code { opacity: .7; }
.label { margin: 0; }
.shown { margin: .5rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
thead th { border-bottom-width: 2px; }
.answer th, .answer td { text-align: left; }
blockquote { margin: .5rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--dim); }
@media print { pre { white-space: pre-wrap; } pre.stdout, pre.out { max-height: none; } }
"""
