"""A session as a file that others can open: notebook, script, Markdown or a page.

    path = export(session.log.since(0), session.folder, "ipynb", Path.cwd())    # terp.store.export.writing

Records become a `Story` (what was said and what ran, in order); each format is one function of it.
"""
