"""Copying to the clipboard by the desktop, tmux, or the terminal, whichever works here.

OSC 52 is swallowed by some terminals and by tmux, and a program of the desktop copies to the wrong machine over SSH. So
the methods are tried in the order in which their success can be known, and the message says which one it was.
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import App, SuspendNotSupported

from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.editing.external_editor import EditorUnavailable, create_private_file, edit_copy, parse_editor_command
from memtui.ui.textual_private import set_local_clipboard

FORCE = "MEMTUI_CLIPBOARD"
"""The environment variable that names the only method to use."""
_SECONDS = 3.0
_MOST_FOR_A_TERMINAL = 74_000
"""Bytes that terminals take at a time by OSC 52; of more, some take nothing without an error."""


class ClipboardError(MemtuiError):
    """Nothing was copied; the words say why, and what to do."""


@dataclass(frozen=True, slots=True)
class CopyMethod:
    """A way to copy.

    Attributes:
        name: In `MEMTUI_CLIPBOARD`.
        words: In messages.
        commands: Programs to try one after the other; none for the terminal itself.
    """

    name: str
    words: str
    commands: tuple[tuple[str, ...], ...] = ()


TERMINAL = CopyMethod("terminal", "terminal")
PAGE = CopyMethod("page", "web browser")
"""That of the person who looks at a web page; the clipboard of this machine is another one."""
TMUX = CopyMethod("tmux", "tmux", (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-")))
WAYLAND = CopyMethod("wl-copy", "clipboard", (("wl-copy",),))
XCLIP = CopyMethod("xclip", "clipboard", (("xclip", "-selection", "clipboard", "-in"),))
XSEL = CopyMethod("xsel", "clipboard", (("xsel", "--clipboard", "--input"),))
MACOS = CopyMethod("pbcopy", "clipboard", (("pbcopy",),))
_WAYS = {way.name: way for way in (TERMINAL, TMUX, WAYLAND, XCLIP, XSEL, MACOS)} | {"osc52": TERMINAL}

Find = Callable[[str], str | None]
Run = Callable[[Sequence[str], bytes], bool]


def list_copy_methods(environment: Mapping[str, str], find: Find = shutil.which) -> list[CopyMethod]:
    """The methods that work here, the surest first.

    Raises:
        ClipboardError: `MEMTUI_CLIPBOARD` names none, or an unknown one.
    """
    forced = environment.get(FORCE, "").strip().casefold()
    if forced:
        if forced == "off":
            raise ClipboardError(f"Not copied: {FORCE}=off.")
        if forced not in _WAYS:
            raise ClipboardError(f"Not copied: {FORCE} is {to_one_line(forced)[:40]}. Use {', '.join(_WAYS)} or off.")
        return [_WAYS[forced]]
    found: list[CopyMethod] = []
    is_far = bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))
    if not is_far:  # a program over there would copy to a clipboard over there
        found += [MACOS] if find("pbcopy") else []
        found += [WAYLAND] if environment.get("WAYLAND_DISPLAY") and find("wl-copy") else []
    if environment.get("DISPLAY"):  # over SSH that is the display of here
        found += [way for way in (XCLIP, XSEL) if find(way.name)][:1]
    if environment.get("TMUX") and find("tmux"):
        found.append(TMUX)
    elif environment.get("TERM", "") not in ("linux", "dumb"):
        found.append(TERMINAL)
    return found


async def copy_text(
    app: App[Any],
    text: str,
    *,
    environment: Mapping[str, str] | None = None,
    find: Find = shutil.which,
    run: Run | None = None,
) -> str:
    """Copy a text; returns the method, such as `terminal`.

    Args:
        app: Its terminal is the last resort.
        text: May hold the escapes of bytes that are no text.
        environment: That of the program if not given.
        find: Finds a program by its name.
        run: Passes bytes to a program; returns whether it succeeded.

    Raises:
        ClipboardError: No method worked.
    """
    environment = os.environ if environment is None else environment
    data = text.encode("utf-8", "surrogateescape")
    why = ""
    set_local_clipboard(app, text)  # Ctrl+V pastes it within the program
    own = [PAGE] if app.is_web else [TERMINAL] if app.is_headless and run is None else []
    for way in own or list_copy_methods(environment, find):
        if not way.commands:
            if len(data) > _MOST_FOR_A_TERMINAL:
                why = f" The {way.words} takes at most {_MOST_FOR_A_TERMINAL:,} bytes, this is {len(data):,}."
                continue
            App.copy_to_clipboard(app, data.decode("utf-8", "replace"))
            return way.words
        for command in way.commands:
            if await asyncio.to_thread(run or _run_copy_command, command, data):
                return way.words
    raise ClipboardError(f"Could not copy here.{why or ' No clipboard program works.'}")


ReportMessage = Callable[[str, bool], object]


def copy_and_report(app: App[Any], text: str, name: str, say: ReportMessage) -> None:
    """Copy a text in a worker, and report the method or the failure.

    Args:
        app: The application.
        text: The text.
        name: Its name in `Copied … (terminal).`; empty to report failures only.
        say: Shows a sentence, and whether it is a warning.
    """

    async def course() -> None:
        try:
            way = await copy_text(app, text)
        except ClipboardError as error:
            offers_file = name and not app.is_web  # it would be one of this machine
            say(await offer_file(app, text, error) if offers_file else str(error), True)
        else:
            if name:
                say(f"Copied {name} ({way}).", False)

    app.run_worker(course(), group="copy", exclusive=True, exit_on_error=False)


async def offer_file(app: App[Any], text: str, error: ClipboardError) -> str:
    """Offer to write a text to a file after a failed copy; returns the message. Call it from a worker."""
    from memtui.ui.screens.dialogs import Choice, MenuScreen  # noqa: PLC0415 - start-up: only after a failed copy

    if await app.push_screen_wait(MenuScreen(str(error), (Choice("w", "write it to a file", "write"),))) != "write":
        return "Nothing was copied."
    try:
        return f"Written to {await asyncio.to_thread(create_private_file, text, suffix='.txt')}."
    except OSError as problem:
        return f"Not written: {(problem.strerror or 'input/output error').lower()}."


def _run_copy_command(command: Sequence[str], data: bytes) -> bool:
    import subprocess  # noqa: PLC0415 - start-up: loads subprocess

    try:
        ran = subprocess.run(
            command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return ran.returncode == 0


# A text in the person's own editor, while the screen steps aside.

__all__ = ["EditorUnavailable", "edit_bytes_externally", "edit_text_externally", "get_editor_command"]


def edit_text_externally(app: App[Any], text: str, *, name: str = "message.md", line: int | None = None) -> str:
    """A text after the person edited it in the external editor; the screen is suspended meanwhile.

    Args:
        app: The application.
        text: The text.
        name: The name of the file.
        line: Where to begin, counted from 1.

    Raises:
        EditorUnavailable: There is none, it failed, or the terminal cannot be handed over. The text is unchanged.
    """
    data = edit_bytes_externally(app, text.encode("utf-8", "surrogateescape"), name=name, line=line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EditorUnavailable("The editor's file is not UTF-8 text. Nothing was changed.", data) from None


def edit_bytes_externally(app: App[Any], data: bytes, *, name: str, line: int | None = None) -> bytes:
    """The same with bytes, for a file whose line ends are to stay.

    Raises:
        EditorUnavailable: See `edit_text_externally`.
    """
    try:
        return edit_copy(get_editor_command(app), data, name=name, line=line, aside=app.suspend())
    except SuspendNotSupported:
        raise EditorUnavailable("This terminal cannot run another program in the foreground.") from None


def get_editor_command(app: App[Any], *, installed: bool = True) -> list[str]:
    """The configured editor, as a command with its options; see `parse_editor_command`.

    Raises:
        EditorUnavailable: None is set, or it is no command.
    """
    config = getattr(app, "config", None)
    return parse_editor_command(config.editor.command if config is not None else "", installed=installed)
