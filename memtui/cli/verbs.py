"""The verbs of memtui, by purpose and in the order of help.

Each is declared in the module of its name, as `NAME_VERB`; its help is in `verb_help.toml`.
"""

from memtui.cli.parsing import VerbRegistry

VERBS = VerbRegistry(
    {
        "view": ("ls", "show", "search", "stats", "places", "home", "demo"),
        "links": ("graph", "links", "orphans", "observations", "recent", "context", "schema", "suggest"),
        "history": ("log", "diff", "blame", "origin", "import-transcripts"),
        "review": ("audit", "review", "verify", "export"),
        "undo": ("undo", "redo", "restore"),
        "change": ("mv", "cp", "rm", "merge", "split", "protect", "prune", "redact", "copy", "mirror"),
        "agents": ("chat", "run", "mcp", "hook", "serve", "replay"),
        "set up": ("config", "doctor", "admin", "completion", "help"),
    },
    modules={
        "links": "graph",
        "orphans": "graph",
        "observations": "knowledge",
        "recent": "knowledge",
        "context": "knowledge",
        "mv": "files",
        "cp": "files",
        "rm": "files",
        "protect": "files",
        "merge": "rearrange",
        "split": "rearrange",
        "redo": "undo",
        "origin": "blame",
        "export": "verify",
        "demo": "browse",
        "places": "browse",
        "home": "browse",
    },
)
