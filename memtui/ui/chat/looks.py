"""How the parts of a conversation look, by what they are: a letter or a word always says the same as the colour."""

from memtui.ui.note.view import ROLES as NOTE_ROLES
from memtui.ui.note.view import NoteView

_OWN = (
    *(
        "band",
        "you",
        "claude",
        "fold",
        "cursor",
        "thinking",
        "verb",
        "verb-open",
        "path",
        "ok",
        "bad",
        "why-bad",
        "not-done",
        "edited",
        "live",
        "asks",
    ),
    *(
        "added",
        "removed",
        "added-word",
        "removed-word",
        "context",
        "detail",
        "answer",
        "title",
        "more",
        "quiet",
        "told",
    ),
    *("fault", "waiting", "count", "summary", "key-hint", "hint", "file", "struck", "undone", "stopped"),
)
ROLES = (*NOTE_ROLES, *_OWN)
PLAIN = frozenset({"edge", "indent"})
"""Roles that tell how a span is copied, not how it looks."""
PREFIX = "transcript--"

# What is said looks as a note does: one look for Markdown, wherever it stands.
CSS = (
    NoteView.DEFAULT_CSS.replace("NoteView", "TranscriptView").replace("noteview--", PREFIX)
    + """
    TranscriptView {
        & > .transcript--you { text-style: bold; }
        & > .transcript--claude { color: $text-primary; text-style: bold; }
        & > .transcript--band { background: $surface; }
        & > .transcript--verb-open { text-style: bold; }
        & > .transcript--title { color: $text-secondary; }
        & > .transcript--fold { color: $text-secondary; }
        & > .transcript--thinking { color: $text-secondary; text-style: italic; }
        & > .transcript--ok { color: $text-success; }
        & > .transcript--bad { color: $text-error; text-style: bold; }
        & > .transcript--why-bad { color: $text-error; }
        & > .transcript--not-done { color: $text-warning; }
        & > .transcript--edited { color: $text-warning; }
        & > .transcript--live { color: $text-accent; text-style: italic; }
        & > .transcript--asks { color: $text-warning; text-style: bold reverse; }
        & > .transcript--added { color: $text-success; }
        & > .transcript--removed { color: $text-error; }
        & > .transcript--added-word { color: $text-success; background: $success-muted; text-style: bold underline; }
        & > .transcript--removed-word { color: $text-error; background: $error-muted; text-style: bold underline; }
        &:ansi > .transcript--added-word { color: ansi_black; background: ansi_green; text-style: underline; }
        &:ansi > .transcript--removed-word { color: ansi_black; background: ansi_red; text-style: underline; }
        & > .transcript--detail { color: $foreground 85%; }
        & > .transcript--more { text-style: italic; }
        & > .transcript--quiet { color: $text-secondary; }
        & > .transcript--told { color: $text-secondary; }
        & > .transcript--fault { color: $text-error; }
        & > .transcript--waiting { color: $text-warning; }
        & > .transcript--count { color: $text-warning; text-style: bold; }
        & > .transcript--summary { text-style: bold; }
        & > .transcript--key-hint { color: $text-accent; text-style: bold; }
        & > .transcript--struck { text-style: strike; }
        & > .transcript--undone { color: $text-warning; text-style: bold; }
        & > .transcript--stopped { color: $text-warning; }
        & > .transcript--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .transcript--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
    }
    """
)
