"""Adapts the pages in docs for mkdocs."""

import re


def on_page_markdown(markdown, config, **_):
    """Leads links to files outside docs to the repository."""
    return re.sub(r"\]\(\.\./([^)]*)\)", rf"]({config['repo_url']}/blob/main/\1)", markdown)
