"""A text in the person's own editor, while the screen steps aside."""

from typing import Any

from textual.app import App, SuspendNotSupported

from memtui.ui.own_editor import NoEditor, command_in, edited_copy

__all__ = ["NoEditor", "command_of", "edited", "edited_bytes"]


def edited(app: App[Any], text: str, *, name: str = "message.md", line: int | None = None) -> str:
    """What the person made of a text in her editor; the screen stands still until that ends.

    Args:
        app: Its terminal is handed over.
        text: What to begin with.
        name: What the file is called there.
        line: Where to begin, counted from 1.

    Raises:
        NoEditor: There is none, it failed, or the terminal cannot be handed over. The text is as it was.
    """
    data = edited_bytes(app, text.encode("utf-8", "surrogateescape"), name=name, line=line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoEditor("What the editor left is no text in UTF-8. Nothing was changed.", data) from None


def edited_bytes(app: App[Any], data: bytes, *, name: str, line: int | None = None) -> bytes:
    """The same with bytes, for a file whose line ends are to stay as they are.

    Raises:
        NoEditor: See `edited`.
    """
    try:
        return edited_copy(command_of(app), data, name=name, line=line, aside=app.suspend())
    except SuspendNotSupported:
        raise NoEditor("This terminal cannot be handed to another program.") from None


def command_of(app: App[Any]) -> list[str]:
    """The editor that the person wants, as a command with its options.

    Raises:
        NoEditor: None is set, or what is set is no command.
    """
    config = getattr(app, "config", None)
    return command_in(config.editor.command if config is not None else "")
