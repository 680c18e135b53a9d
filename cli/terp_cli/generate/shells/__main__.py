"""`python -m terp_cli.generate.shells` writes the completion files."""

from terp_cli.generate.shells import FILES, folder, generated

for shell, name in FILES.items():
    (folder() / name).write_text(generated(shell), encoding="utf-8")
