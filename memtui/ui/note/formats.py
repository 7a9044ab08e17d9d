"""Decide how a note is shown, by its name first and by its text where the name does not say.

Agents write what they like under any name: a `.txt` full of Markdown, a note without an extension that is
JSON. A wrong guess costs a person a key press, never content: every format shows all of the text.
"""

import re

_BY_EXTENSION = {
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "mdc": "markdown",
    "json": "json", "jsonl": "json", "jsonc": "json", "ndjson": "json",
    "xml": "xml", "svg": "xml", "html": "html", "htm": "html", "xhtml": "xml",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini",
    "py": "python", "pyi": "python", "js": "javascript", "ts": "typescript", "css": "css", "sql": "sql",
    "sh": "bash", "bash": "bash", "zsh": "bash", "go": "go", "rs": "rust", "java": "java", "c": "c", "h": "c",
    "cpp": "cpp", "rb": "ruby", "lua": "lua", "diff": "diff", "patch": "diff",
    "log": "text", "csv": "text", "tsv": "text",
}  # fmt: skip

_MARKDOWN = re.compile(r"(?m)^(?:#{1,6} \S|```|[-*] \[[ xX]\] |[-*+] \S.*\n[-*+] \S|\|[ \t]*:?-+)|\]\(\S+\)|\*\*\S")
_XML = re.compile(r"\s*<(?:\?xml\b|!DOCTYPE\b|([A-Za-z_][\w.-]*)[^<>]*>)")
_LOOKED_AT = 8192
"""Characters at the start of a note that the guess is made from."""


def syntax_of(name: str, text: str) -> str:
    """The syntax that `NoteView.show` is to be given.

    Args:
        name: Name or path of the file.
        text: Its text; only the start is looked at.
    """
    extension = name.rpartition("/")[2].rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
    if extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    return _by_text(text[:_LOOKED_AT], text[-200:])


def _by_text(head: str, tail: str) -> str:
    start, end = head.lstrip()[:1], tail.rstrip()[-1:]
    if (start, end) in (("{", "}"), ("[", "]")) and re.match(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\d\]tfn-])", head):
        return "json"
    if (match := _XML.match(head)) and end == ">" and (match[1] is None or f"</{match[1]}>" in tail):
        return "xml"
    if head.startswith("#!"):
        first = head.partition("\n")[0]
        return "python" if "python" in first else "bash" if "sh" in first else "text"
    if head.startswith("---\n") or _MARKDOWN.search(head):
        return "markdown"
    return "text"
