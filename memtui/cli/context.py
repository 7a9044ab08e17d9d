"""Opening a memory for a verb that asks about its history, or that changes it."""

import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.cli import output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError, format_os_error
from memtui.core.errors import LockTimeout
from memtui.core.paths import NO_FOLDER, ONLINE, ROOT, ROOT_NAME, SERVER, SQLITE, MemoryPath, format_path, resolve_place
from memtui.fs.state import COPY, UNFINISHED, get_state_directory

if TYPE_CHECKING:  # for start-up cost: the browser needs the folder and the settings alone
    import argparse

    from memtui.agents.chat.events import ChatOptions
    from memtui.agents.chat.sessions.store import ChatSession
    from memtui.config import LoadedConfig
    from memtui.core.approvals import ApprovalPolicy
    from memtui.core.settings import Settings
    from memtui.engine import Engine
    from memtui.store.folder import FolderStore
    from memtui.store.sqlite import SqliteStore


# The settings of a command line: its flags, then the environment, then the file.


def load_config(options: Options, folder: str | None = None) -> "LoadedConfig":
    """The settings, with their origins and problems. Raises `Failure` if the file named cannot be read."""
    from memtui.config import ConfigUnreadable  # noqa: PLC0415 - start-up: loads the settings
    from memtui.config import load_config as config_load_config  # noqa: PLC0415 - start-up: loads the settings

    flags: dict[str, tuple[str, object]] = {}
    if options.directory is not None:
        flags["dir"] = ("--dir", options.directory)
    if options.screen_reader:
        flags["ui.screen_reader"] = ("--screen-reader", True)
    try:
        return config_load_config(path=options.config, use_file=not options.no_config, folder=folder, flags=flags)
    except ConfigUnreadable as error:
        raise NotFound(str(error)) from error


def load_memory_settings(options: Options, folder: str) -> "Settings":
    """The settings of a memory; their problems are printed beside the output."""
    loaded = load_config(options, folder)
    report_setting_problems(loaded, options)
    return loaded.config.memory


def make_config_getter(options: Options, loaded: "LoadedConfig") -> Callable[[str], "LoadedConfig"]:
    """The settings by the memory folder, links resolved: those that are loaded, unless their file is in the folder."""
    from memtui.config import resolve_places  # noqa: PLC0415 - start-up: loads the settings

    places = resolve_places(loaded.path) if loaded.path else ()

    def get_config(folder: str) -> "LoadedConfig":
        holds_file = any(place.startswith(f"{folder.rstrip('/')}/") for place in places)
        return load_config(options, folder) if holds_file else loaded

    return get_config


def report_setting_problems(loaded: "LoadedConfig", options: Options) -> None:
    """Print the problems of settings, unless `--quiet` is given."""
    for problem in () if options.quiet else loaded.problems:
        output.print_message(problem.sentence)


@contextmanager
def open_memory(path: str, options: Options) -> Iterator["Engine"]:
    """The memory, with changes from outside recorded; with `--read-only` they are only read."""
    from memtui.memory import connect  # noqa: PLC0415 - start-up: loads the engine

    settings = load_memory_settings(options, path)
    with _show_download(options) as progress:
        more: dict[str, Any] = {} if progress is None else {"progress": progress}
        memory = connect(path, state=options.state, read_only=options.read_only, settings=settings, **more)
    with memory:
        observe_external_changes(memory)
        yield memory


@contextmanager
def _show_download(options: Options) -> Iterator[Callable[[int], object] | None]:
    """A line of progress while a server's record is read: takes the number of the last event; `None` for no line."""
    with output.show_progress_line(quiet=options.quiet) as tell:
        yield tell and (lambda last: tell("Reading the server's record, events", last, None))


def _resolve_and_read(given: str, options: Options) -> str:
    """See `resolve_existing_folder`; what is on a server, and not all on this machine, is read with a progress line."""
    path = resolve_existing_folder(given)
    where = get_state_directory(path, options.state) if path.startswith(SERVER) else None
    if where is not None and (not os.path.exists(where / COPY) or os.path.exists(where / UNFINISHED)):
        with _show_download(options) as progress:
            if progress is not None:
                from memtui.memory import load_remote  # noqa: PLC0415 - start-up: loads the engine

                load_remote(path).update_copy(path, options.state, progress=progress)
    return path


def observe_external_changes(memory: "Engine") -> None:
    """Record changes from outside, or say that they could not be found out."""
    try:
        memory.reconcile()
    except LockTimeout as busy:
        output.print_message(f"{busy} Changes by other programs may be missing here.")


def require_writable(options: Options, not_done: str) -> None:
    """Raise `Failure` with `--read-only`; `not_done` begins its sentence, such as `Not restored`."""
    if options.read_only:
        raise Failure(
            ExitCode.REFUSED,
            f"{not_done}: this is read-only. Nothing was written. Run it without --read-only to do it.",
        )


# Which folder a command is about, and where in it.

_USUAL = "memories"


def find_folder(options: Options, argument: str | None = None) -> str | None:
    """The folder of the command line, environment or settings, else `./memories`. Raises `Failure` for two."""
    if argument is not None and options.directory is not None:
        raise UsageError(f"Two folders were given: {argument} and {options.directory}. Give one.")
    given = argument if argument is not None else options.directory
    if given == "":
        raise UsageError("The folder's name is empty. Nothing was opened. Open one: memtui DIR")
    if given is not None:
        return given
    if usual := os.environ.get("MEMTUI_DIR") or load_config(options).config.dir:
        return usual
    return _USUAL if os.path.isdir(_USUAL) else None


def resolve_folder(options: Options, argument: str | None = None) -> str:
    """The memory folder, with links resolved. Raises `Failure` if there is none; none is created."""
    given = find_folder(options, argument)
    if given is None:
        raise NotFound("No memory folder was given, and there is no ./memories here. Use --dir DIR, or set MEMTUI_DIR")
    return _resolve_and_read(given, options)


def resolve_existing_folder(given: str) -> str:
    """A folder, or another place, with links resolved. Raises `Failure` if it cannot be opened."""
    path = resolve_place(given)
    title = format_path(path)
    if path.startswith(NO_FOLDER):
        return path  # where it is not there, it is made, or said by who only reads
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            plain = title if shlex.quote(title[1:]) == title[1:] else shlex.quote(path)
            raise NotFound(
                f"No folder at {title}. Nothing was created. Create it with: mkdir -p {plain}  "
                "or open another: memtui DIR"
            ) from error
        raise NotFound(f"{title} cannot be opened: {format_os_error(error)}. Nothing was changed.") from error
    if not stat.S_ISDIR(mode):
        raise NotFound(f"{title} is not a folder. Nothing was opened. Open the folder that holds it.")
    return path


def resolve_word(options: Options, word: str | None) -> tuple[str, MemoryPath]:
    """A word of `ls` or `log`: a path inside the memory folder, or a folder itself.

    What is inside wins if it is there, unless the word is written as a path of the machine: `.`, `./x`, `~/x`. With
    `--dir` it is always inside. Where it could be both, a message names both ways.

    Returns:
        The folder, with links resolved, and the place in it.
    """
    if word is None or word == "":
        return resolve_folder(options, word), ROOT
    if options.directory is not None:
        folder = resolve_folder(options)
        return folder, parse_memory_path(word, folder)
    usual = find_folder(options)
    folder = resolve_place(usual) if usual is not None else ""
    place = _find_inside(word, folder)
    is_folder = os.path.isdir(os.path.expanduser(word))
    if (
        word.startswith(NO_FOLDER)
        or place is None
        or (is_folder and not os.path.lexists(os.path.join(folder, *place.parts)))
    ):
        return _resolve_and_read(word, options), ROOT
    if is_folder and (word in (".", "..") or word.startswith(("./", "../", "~"))):
        return _resolve_and_read(word, options), ROOT
    if is_folder and not word.startswith("/") and not options.quiet:
        other = f"For the folder of that name: --dir {shlex.quote(word)}"
        output.print_message(f"{word} is read as {place}, in {format_path(folder)}. {other}")
    return folder, place


def _find_inside(word: str, folder: str) -> MemoryPath | None:
    if not os.path.isdir(folder):
        return None
    try:
        return parse_memory_path(word, folder)
    except Failure:  # outside: it can only be another folder
        return None


def make_missing_failure(place: MemoryPath, folder: str) -> NotFound:
    """The failure of a word that names nothing: it names both ways to read it."""
    name = shlex.quote(place.relative)
    return NotFound(
        f"Nothing at {place}, in {format_path(folder)}. To list the files: memtui ls  "
        f"If {name} is a memory folder: --dir {name}"
    )


def open_folder_store(path: str) -> "FolderStore | SqliteStore":
    """A place that is only looked at: no journal, no lock, no state directory."""
    if path.startswith(SQLITE):
        from memtui import sqlite_file  # noqa: PLC0415 - start-up: loads the store

        return sqlite_file.open_store(path)
    if path.startswith(ONLINE):
        from memtui.memory import load_remote  # noqa: PLC0415 - start-up: loads the engine

        found: SqliteStore = load_remote(path).open_store(path)
        return found
    from memtui.store.folder import FolderStore  # noqa: PLC0415 - start-up: loads the store

    return FolderStore(path, None, title=format_path(path))


def parse_memory_path(given: str, path: str) -> MemoryPath:
    """A place in the folder `path`, given relative, as `/memories/...`, or as a real path; also names that agents
    cannot make. Raises `Failure` if it is outside, or empty, as an unset variable of a script is.
    """
    if not given:
        raise UsageError("A path is empty. Nothing was read or written. The whole folder is: .")
    relative = given
    for root in (ROOT_NAME, path):
        if given == root or given.startswith(root.rstrip("/") + "/"):
            relative = given[len(root) :]
            break
    else:
        if given.startswith("/"):
            raise make_outside_failure(given)
    parts = tuple(part for part in relative.split("/") if part not in ("", "."))
    if ".." in parts:
        raise make_outside_failure(given)
    return MemoryPath(parts)


def make_outside_failure(given: str) -> Failure:
    """The refusal of a path that leads out."""
    return Failure(ExitCode.REFUSED, f"Refused: {given} is outside the memory folder. Nothing was read or written.")


# Guidance: words on the command line, or a file that holds them.

LONGEST = 100_000
"""Characters of the longest text that is taken."""


def parse_guidance(given: str) -> str:
    """A text, or the content of a file of that name; for argparse."""
    if "\n" in given or not os.path.isfile(os.path.expanduser(given)):
        if "\n" not in given and " " not in given and (os.sep in given or given.endswith((".md", ".txt"))):
            raise _make_argument_error(f"no such file: {given}")
        return given
    return parse_text_file(given)


def parse_text_file(given: str) -> str:
    """The content of a file; for argparse."""
    try:
        text = Path(given).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = format_os_error(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise _make_argument_error(f"{given} cannot be read: {reason}") from None
    if len(text) > LONGEST:
        raise _make_argument_error(f"{given} is too long: more than {LONGEST:,} characters")
    return text


def _make_argument_error(words: str) -> Exception:
    from argparse import ArgumentTypeError  # noqa: PLC0415 - start-up: the browser starts without

    return ArgumentTypeError(words)


# Options of a conversation.


def build_chat_options(
    loaded: "LoadedConfig", options: Options, given: "argparse.Namespace | None" = None
) -> "ChatOptions":
    """The options of a conversation: those given, else the settings. Raises `Failure` if they contradict."""
    from memtui.agents.chat.events import ChatOptions  # noqa: PLC0415 - start-up: only to chat
    from memtui.core.approvals import ApprovalPolicy  # noqa: PLC0415 - start-up: the browser starts without

    values = dict(vars(given)) if given is not None else {}
    chat = loaded.config.chat

    def first(name: str, otherwise: Any) -> Any:
        return values[name] if values.get(name) is not None else otherwise

    return ChatOptions(
        model=first("model", chat.model or None),
        provider=first("provider", chat.provider),
        policy=_choose_policy(
            values.get("policy"), chat.policy if values.get("print") is None else ApprovalPolicy.READ_ONLY, options
        ),
        system=values.get("system") or _load_text_setting(loaded, "system", chat.system, parse_text_file),
        guidance=values.get("guidance") or _load_text_setting(loaded, "guidance", chat.guidance, parse_guidance),
        max_tokens=first("max_tokens", chat.max_tokens or None),
        context_trigger=first("context_trigger", chat.context_trigger),
        effort=first("effort", chat.effort or None),
        thinking=first("thinking", chat.thinking),
        input_price=first("input_price", chat.input_price),
        output_price=first("output_price", chat.output_price),
        max_calls=chat.max_calls or ChatOptions().max_calls,
    )


def open_chat_session(
    memory: "Engine", folder: str, chat: "ChatOptions", *, state: str | None, resume: str | None, fork: str | None
) -> "ChatSession":
    """A new session, or one to go on with, or with a copy of. Raises `Failure` if it does not exist."""
    from memtui.agents.chat.sessions.store import CHATS, ChatSession, SessionNotFound  # noqa: PLC0415 - start-up: only to chat

    directory, kept = get_state_directory(folder, state) / CHATS, not memory.read_only
    try:
        if resume is not None:
            return ChatSession.resume(directory, resume, kept=kept)
        if fork is not None:
            return ChatSession.fork(directory, fork, kept=kept)
    except SessionNotFound as error:
        raise NotFound(str(error)) from error
    return ChatSession.create(directory, folder=folder, options=chat, seq=memory.get_head()[0], kept=kept)


def _choose_policy(given: str | None, usual: str, options: Options) -> "ApprovalPolicy":
    from memtui.core.approvals import ApprovalPolicy  # noqa: PLC0415 - start-up: the browser starts without

    if options.read_only:
        if given not in (None, ApprovalPolicy.READ_ONLY):
            raise UsageError(
                f"memtui chat: --read-only and --policy {given} do not go together. Leave one of them out."
            )
        return ApprovalPolicy.READ_ONLY
    return ApprovalPolicy(given or usual)


def _load_text_setting(loaded: "LoadedConfig", name: str, given: str, read: Callable[[str], str]) -> str:
    """A text that the settings name: a conversation without it would be another than the person wants."""
    if not given:
        return ""
    from argparse import ArgumentTypeError  # noqa: PLC0415 - start-up: the browser starts without

    try:
        return read(given)
    except ArgumentTypeError as error:
        where = loaded.get_origin(f"chat.{name}")
        raise NotFound(f"chat.{name} in the settings ({where}): {error}. No chat was started.") from error
