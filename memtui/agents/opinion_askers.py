"""Who asks a model for opinions: a thread of this process, or a process that was forked while it could still connect.

An audit that is confined can make no connection. So a process is forked before: it gets passages of notes from the
audit, can connect, and can write nothing but its cache. Neither loads anything before it is asked.
"""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from io import BufferedRWPair
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from memtui.core.paths import ONLINE, SQLITE
from memtui.fs.landlock import restrict_writes
from memtui.fs.state import get_cache_home, make_private_directory
from memtui.fs.write_helper import detach_from_parent

if TYPE_CHECKING:  # start-up: loads what talks to a server
    from memtui.agents.chat.events import ChatOptions
    from memtui.agents.opinions import OpinionAnswers, OpinionCache
    from memtui.config.settings import Provider

Passages = Sequence[Mapping[str, str]]
Progress = Callable[[int, int], None]

_FILE = "opinions.json"
_ENDED = "The process that asks the model ended early."


class LocalAsker:
    """Asks in this process, where it can connect. A call may take minutes: it is made from a thread.

    Args:
        folder: The memory folder, in whose reach no cache is kept.
        model: `None` for the newest.
        keeps: Whether opinions are kept for the next time.
        make: Makes the client; by default that of the SDK.
    """

    alone = False

    def __init__(
        self,
        folder: str,
        *,
        model: str | None,
        provider: "Provider",
        keeps: bool = True,
        make: "Callable[[ChatOptions], Any] | None" = None,
    ) -> None:
        self.model = model
        self.provider = provider
        self._file = _find_cache_file(folder) if keeps else None
        self._make = make

    @cached_property
    def cache(self) -> "OpinionCache":
        from memtui.agents.opinions import OpinionCache  # noqa: PLC0415 - start-up: loads what talks to a server

        return OpinionCache(self._file)

    def ask(self, passages: Passages, progress: Progress) -> "OpinionAnswers":
        """Ask about passages, as far as the cache has no opinion on them."""
        return _ask_and_keep(passages, self.model, self.provider, self.cache, self.alone, progress, self._make)


class OpinionProcess:
    """Another process that asks. It begins before this one has other threads or gives up its rights.

    Args:
        folder: The memory folder, in which it can write nothing.
        model: `None` for the newest.
        alone: Whether each passage is judged by itself.
        keeps: Whether opinions are kept for the next time.
    """

    def __init__(
        self, folder: str, *, model: str | None, provider: "Provider", alone: bool = False, keeps: bool = True
    ) -> None:
        self.model = model
        self.provider = provider
        self.alone = alone
        self._file = _find_cache_file(folder) if keeps else None
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            _run(theirs, folder, model, provider, alone, self._file)
        theirs.close()
        self._pipe = ours.makefile("rwb")
        ours.close()  # is open as long as the file is

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        with contextlib.suppress(OSError):  # what it was sent and did not read
            self._pipe.close()

    @cached_property
    def cache(self) -> "OpinionCache":
        """What is kept, and what was answered here."""
        from memtui.agents.opinions import OpinionCache  # noqa: PLC0415 - start-up: loads what talks to a server

        return OpinionCache(self._file)

    @cached_property
    def confinement(self) -> str:
        """What the process can do, as a sentence; it gives up the rest now."""
        with contextlib.suppress(OSError):  # an end is noticed below
            _send(self._pipe, "begin")
        return _describe_confinement(_receive(self._pipe).get("landlock", 0))

    def ask(self, passages: Passages, progress: Progress) -> "OpinionAnswers":
        """Ask about passages, as far as the cache has no opinion on them."""
        from memtui.agents.opinions import OpinionAnswers  # noqa: PLC0415 - start-up: as above

        with self._lock:
            _ = self.confinement  # before it reads any passage
            with contextlib.suppress(OSError):
                _send(self._pipe, passages)
            while "done" in (answer := _receive(self._pipe)):
                progress(answer["done"], answer["of"])
        given = answer.get("opinions", ())
        answers = OpinionAnswers(
            answer.get("model", ""),
            {number: (verdict, reason) for number, verdict, reason, _ in given},
            answer.get("fault", _ENDED),
            {number: at_us for number, _, _, at_us in given if at_us},
        )
        for number, opinion in answers.opinions.items():
            at_us = answers.given_us.get(number, 0)
            self.cache.add([passages[number]], [opinion], answers.model, self.alone, at_us)
        return answers


def _send(pipe: BufferedRWPair, message: object) -> None:
    """Write a message, a line of JSON. Raises `OSError` if nobody reads it any more."""
    import json  # noqa: PLC0415 - start-up: not before somebody asks

    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.flush()


def _receive(pipe: BufferedRWPair) -> Any:
    """The next message of the other process; an empty one if it has ended."""
    import json  # noqa: PLC0415 - start-up: as above

    with contextlib.suppress(OSError):
        line = pipe.readline()
        if line.endswith(b"\n"):
            return json.loads(line)
    return {}


def _ask_and_keep(
    passages: Passages,
    model: str | None,
    provider: "Provider",
    cache: "OpinionCache",
    alone: bool,
    progress: Progress,
    make: "Callable[[ChatOptions], Any] | None" = None,
) -> "OpinionAnswers":
    from memtui.agents.chat.client import make_client  # noqa: PLC0415 - start-up: loads what talks to a server
    from memtui.agents.chat.events import ChatOptions  # noqa: PLC0415 - as above
    from memtui.agents.opinions import ask_opinions  # noqa: PLC0415 - as above

    if cache.file is not None:
        with contextlib.suppress(OSError):
            make_private_directory(cache.file.parent)
    options = ChatOptions(model=model, provider=provider)
    answers = ask_opinions(passages, options, cache, alone=alone, progress=progress, make=make or make_client)
    with contextlib.suppress(OSError):  # what is not kept is asked again
        cache.write()
    return answers


def _describe_confinement(landlock: int) -> str:
    rights = "it can write only to memtui's cache and the SDK's credentials"
    enforced = f"{rights} (Landlock {landlock})" if landlock else "it is not confined by the kernel"
    return f"A separate process with network access asks the model: {enforced}."


def _find_cache_file(folder: str) -> Path | None:
    """The file of the cache, which need not be there; `None` where it would be in reach of an agent."""
    directory = get_cache_home()
    return directory / _FILE if _is_apart(os.fspath(directory), folder) else None


def _is_apart(place: str, folder: str) -> bool:
    """Whether neither of two directories is in the other."""
    if folder.startswith(ONLINE):
        return True
    place, folder = os.path.realpath(place), folder.removeprefix(SQLITE)
    return os.path.commonpath((place, folder)) not in (place, folder)


# The process that asks.


def _run(
    end: socket.socket, folder: str, model: str | None, provider: "Provider", alone: bool, cache_file: Path | None
) -> NoReturn:
    """Be the process: nothing of the parent's is to run here."""
    code = 1
    try:
        detach_from_parent(end.fileno())
        with contextlib.suppress(BrokenPipeError):  # the parent has ended
            _serve(end.makefile("rwb"), folder, model, provider, alone, cache_file)
        code = 0
    finally:
        os._exit(code)


def _serve(
    pipe: BufferedRWPair, folder: str, model: str | None, provider: "Provider", alone: bool, cache_file: Path | None
) -> None:
    """Ask about what comes, until the parent ends."""
    if _receive(pipe):  # till a person wants to ask, nothing is made or loaded
        _send(pipe, {"landlock": _confine(folder, cache_file)})
        from memtui.agents.opinions import OpinionCache  # noqa: PLC0415 - as said

        while (passages := _receive(pipe)) != {}:
            answers = _ask_and_keep(
                passages,
                model,
                provider,
                OpinionCache(cache_file),
                alone,
                lambda done, of: _send(pipe, {"done": done, "of": of}),
            )
            opinions = [
                [number, *opinion, answers.given_us.get(number, 0)]
                for number, opinion in sorted(answers.opinions.items())
            ]
            _send(pipe, {"model": answers.model, "opinions": opinions, "fault": answers.fault})


def _confine(folder: str, cache_file: Path | None) -> int:
    """Give up what is not needed to ask; returns the version of Landlock, 0 for none."""
    from memtui.agents.chat.client import find_profile_directory  # noqa: PLC0415 - start-up: not before somebody asks

    writable = [find_profile_directory()]
    if cache_file is not None:
        with contextlib.suppress(OSError):
            make_private_directory(cache_file.parent)
            writable.append(os.fspath(cache_file.parent))
    return restrict_writes(but=[place for place in writable if _is_apart(place, folder)], network=True).version
