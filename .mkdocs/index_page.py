"""The site begins with the page that a newcomer needs; the manual itself has no page of that name."""

from pathlib import Path
from typing import Any

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={first}">
<title>memtui</title>
<a href="{first}">memtui</a>
"""


def on_post_build(config: Any) -> None:
    (Path(config["site_dir"]) / "index.html").write_text(_PAGE.format(first="getting-started.html"), encoding="utf-8")
