"""What kind of note one is: what its front matter says, and its format."""

from memtui.notes.front_matter import properties_of

_FORMATS = {
    "markdown": "md",
    "mdown": "md",
    "mkd": "md",
    "mdx": "md",
    "text": "txt",
    "log": "txt",
    "htm": "html",
    "yml": "yaml",
    "ndjson": "jsonl",
}
_TYPED = frozenset({"md", "txt", ""})
"""Formats whose notes may begin with front matter."""
_OTHER_NAMES = {"md": ("markdown",), "txt": ("text",), "yaml": ("yml",)}


def format_of(path: str) -> str:
    """The format of a file by its name: `md`, `json`, `xml`, `txt` or whatever its extension says; `txt` without."""
    name = path.rpartition("/")[2].lstrip(".")
    extension = name.rpartition(".")[2].casefold() if "." in name else ""
    return _FORMATS.get(extension, extension) or "txt"


def type_of(path: str, text: str) -> str:
    """What a note says it is (`feedback`, `project`), in lower case; its format if it says nothing."""
    return _declared(path, text) or format_of(path)


def types_of(path: str, text: str) -> frozenset[str]:
    """All words that `type:` finds a note by, in lower case: its format, and what its front matter says."""
    kind = format_of(path)
    return frozenset({kind, *_OTHER_NAMES.get(kind, ()), _declared(path, text)} - {""})


def _declared(path: str, text: str) -> str:
    if format_of(path) not in _TYPED or not text.startswith(("---", "\ufeff---")):
        return ""
    declared = properties_of(text).get("type")
    return declared.strip().casefold() if isinstance(declared, str) else ""
