"""Copying to where a person can paste: her own clipboard, tmux, or the terminal, whichever there is.

Every terminal program that copies fails somewhere in silence: OSC 52 is swallowed by some terminals and by tmux, a
program of the desktop copies to the wrong machine over SSH. So the ways are tried in the order in which it can be known
that they worked, and it is said which one it was.
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import App

from memtui.core.errors import MemtuiError
from memtui.core.visible import one_line

FORCE = "MEMTUI_CLIPBOARD"
"""The variable of the environment that names the one way to take."""
_SECONDS = 3.0
_MOST_FOR_A_TERMINAL = 74_000
"""Bytes that terminals take at a time by OSC 52; of more, some take nothing and say nothing."""


class CannotCopy(MemtuiError):
    """Nothing was copied; the words say why, and what to do."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to copy.

    Attributes:
        name: What it is called in `MEMTUI_CLIPBOARD`.
        words: How it is said.
        commands: Programs that take the text, one after the other until one takes it; none for the terminal itself.
    """

    name: str
    words: str
    commands: tuple[tuple[str, ...], ...] = ()


TERMINAL = Way("terminal", "terminal")
TMUX = Way("tmux", "tmux", (("tmux", "load-buffer", "-w", "-"), ("tmux", "load-buffer", "-")))
WAYLAND = Way("wl-copy", "clipboard", (("wl-copy",),))
XCLIP = Way("xclip", "clipboard", (("xclip", "-selection", "clipboard", "-in"),))
XSEL = Way("xsel", "clipboard", (("xsel", "--clipboard", "--input"),))
MACOS = Way("pbcopy", "clipboard", (("pbcopy",),))
_WAYS = {way.name: way for way in (TERMINAL, TMUX, WAYLAND, XCLIP, XSEL, MACOS)} | {"osc52": TERMINAL}

Find = Callable[[str], str | None]
Run = Callable[[Sequence[str], bytes], bool]


def ways(environment: Mapping[str, str], find: Find = shutil.which) -> list[Way]:
    """The ways that there are here, the surest first.

    Args:
        environment: The environment of the program.
        find: Finds a program by its name.

    Raises:
        CannotCopy: `MEMTUI_CLIPBOARD` names none, or one that is not here.
    """
    forced = environment.get(FORCE, "").strip().casefold()
    if forced:
        if forced == "off":
            raise CannotCopy(f"Not copied: {FORCE}=off.")
        if forced not in _WAYS:
            raise CannotCopy(f"Not copied: {FORCE} is {one_line(forced)[:40]}, and may be {', '.join(_WAYS)} or off.")
        return [_WAYS[forced]]
    found: list[Way] = []
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


async def copy(
    app: App[Any],
    text: str,
    *,
    environment: Mapping[str, str] | None = None,
    find: Find = shutil.which,
    run: Run | None = None,
) -> str:
    """Copy a text, and say which way it went, such as `terminal`.

    Args:
        app: Whose terminal is written to where there is no better way.
        text: What to copy; may hold the escapes of bytes that are no text.
        environment: The environment; that of the program if not given.
        find: Finds a program by its name.
        run: Hands bytes to a program, and tells whether it took them.

    Raises:
        CannotCopy: No way worked.
    """
    environment = os.environ if environment is None else environment
    data = text.encode("utf-8", "surrogateescape")
    why = ""
    app._clipboard = text  # what Ctrl+V pastes within the program
    for way in [TERMINAL] if app.is_headless and run is None else ways(environment, find):
        if way is TERMINAL:
            if len(data) > _MOST_FOR_A_TERMINAL:
                why = f" A terminal takes {_MOST_FOR_A_TERMINAL:,} bytes, and this is {len(data):,}."
                continue
            App.copy_to_clipboard(app, data.decode("utf-8", "replace"))
            return way.words
        for command in way.commands:
            if await asyncio.to_thread(run or _run, command, data):
                return way.words
    raise CannotCopy(f"Could not copy here.{why or ' No program for the clipboard works.'}")


Say = Callable[[str, bool], object]


def copy_and_say(app: App[Any], text: str, name: str, say: Say) -> None:
    """Copy a text behind the keys, and say which way it went, or why not.

    Args:
        app: Whose terminal is written to where there is no better way.
        text: What to copy.
        name: What it is called in `Copied … (terminal).`; empty where only a failure is to be said.
        say: Shows a sentence, and whether it is a warning.
    """

    async def course() -> None:
        try:
            way = await copy(app, text)
        except CannotCopy as error:
            say(await offer_file(app, text, error) if name else str(error), True)
        else:
            if name:
                say(f"Copied {name} ({way}).", False)

    app.run_worker(course(), group="copy", exclusive=True, exit_on_error=False)


async def offer_file(app: App[Any], text: str, error: CannotCopy) -> str:
    """Offer to write to a file what could not be copied; return what there is to say then. Call it from a worker.

    Args:
        app: Where it is asked.
        text: What was to be copied.
        error: Why it was not.
    """
    from memtui.ui.own_file import own_file  # deferred: hopefully never needed
    from memtui.ui.screens.menu import Choice, MenuScreen

    if await app.push_screen_wait(MenuScreen(str(error), (Choice("w", "write it to a file", "write"),))) != "write":
        return "Nothing was copied."
    try:
        return f"Written to {await asyncio.to_thread(own_file, text, suffix='.txt')}."
    except OSError as problem:
        return f"Not written: {(problem.strerror or 'input/output error').lower()}."


def _run(command: Sequence[str], data: bytes) -> bool:
    import subprocess  # deferred: only where somebody copies

    try:
        ran = subprocess.run(
            command, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return ran.returncode == 0
