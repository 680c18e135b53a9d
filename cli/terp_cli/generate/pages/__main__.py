"""`python -m terp_cli.generate.pages` writes docs/settings.md and the schema of profiles anew."""

from terp_cli.generate.pages.made import made

for path, text in made().items():
    path.write_text(text, encoding="utf-8")
