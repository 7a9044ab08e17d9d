"""The engine against the SDK's own class: each difference is one that CONTRACT.md names, and no other.

Both execute the same random commands on folders that hold the same bytes. Answers are compared without the
`Error: ` prefix, which the contract places by the documentation. Whatever differs must be explained by a rule of
`RULES`; each rule must have explained something, so that none outlives its reason.
"""

import os
import posixpath
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

import memtui
from memtui.engine import Engine
from memtui.journal.sqlite import Journal
from memtui.store.folder import FolderStore

SEQUENCES = 250
LENGTH = 14
ME = memtui.Agent("a")


@dataclass(frozen=True)
class Said:
    """One answer: whether it was an error, its text without the prefix, and the class of what was raised."""

    is_error: bool
    text: str
    raised: str = ""


@dataclass(frozen=True)
class Turn:
    """A command, what both said, and what stood at its path before."""

    command: dict[str, Any]
    ours: Said
    theirs: Said
    before: dict[str, bytes | None]

    @property
    def name(self) -> str:
        return str(self.command["command"])

    @property
    def path(self) -> str:
        return str(self.command.get("path", self.command.get("old_path")))

    def held(self, field: str = "path") -> bytes | str | None:
        """A file's bytes, `None` for a directory, `"nothing"`."""
        path = posixpath.normpath(str(self.command[field]))
        return None if path == "/memories" else self.before.get(path.removeprefix("/memories/"), "nothing")

    @property
    def text(self) -> str:
        held = self.held()
        return held.decode() if isinstance(held, bytes) else ""


def _paths(turn: Turn) -> list[str]:
    return [str(turn.command[field]) for field in ("path", "old_path", "new_path") if field in turn.command]


def _listed(said: Said) -> list[str]:
    return [line.partition("\t")[2] for line in said.text.split("\n")[1:]]


def _canonical(turn: Turn) -> str:
    """Their answer with canonical paths."""
    theirs = turn.theirs.text
    for path in sorted(_paths(turn), key=len, reverse=True):
        theirs = theirs.replace(path, posixpath.normpath(path))
    return theirs


def _same_but_for_the_path(turn: Turn) -> bool:
    return turn.ours.is_error == turn.theirs.is_error and turn.ours.text == _canonical(turn)


RULES: dict[str, Callable[[Turn], bool]] = {
    "answers echo the canonical path": lambda t: any(path != posixpath.normpath(path) for path in _paths(t))
    and _same_but_for_the_path(t),
    "any `..` segment is refused": lambda t: any(".." in path.split("/") for path in _paths(t))
    and t.ours.text.endswith("would escape /memories directory"),
    "what does not start with /memories is refused": lambda t: any(
        not (path == "/memories" or path.startswith("/memories/")) for path in _paths(t)
    )
    and t.ours.text.startswith("Path must start with /memories"),
    "control characters and backslashes are refused": lambda t: any("\\" in path or "\n" in path for path in _paths(t))
    and t.ours.text.endswith("contains a character that is not allowed"),
    "percent-encoding of dots and separators is refused": lambda t: any("%2" in path for path in _paths(t))
    and t.ours.text.endswith("would escape /memories directory"),
    "a name over 255 bytes is refused": lambda t: any(len(path) > 255 for path in _paths(t))
    and t.ours.text.endswith("has a name of over 255 bytes"),
    "the header says node_modules, and leaves it out; directory sizes add up": lambda t: t.name == "view"
    and not t.ours.is_error
    and t.held() is None
    and ", excluding hidden items and node_modules:\n" in t.ours.text
    and _listed(t.ours)
    == [
        line.replace(t.path, posixpath.normpath(t.path), 1)
        for line in _listed(t.theirs)
        if "node_modules" not in line.removeprefix(t.path).split("/")
    ],
    "a `view_range` outside the file is refused": lambda t: t.name == "view"
    and "Invalid `view_range` parameter" in t.ours.text
    and not t.theirs.is_error,
    "an end beyond the last line becomes the last line": lambda t: t.name == "view"
    and not t.ours.is_error
    and t.text.endswith("\n")
    and "view_range" in t.command
    and t.command["view_range"][1] > t.text.count("\n")
    and _canonical(t).startswith(t.ours.text + "\n"),
    "create overwrites": lambda t: t.name == "create"
    and isinstance(t.held(), bytes)
    and not t.ours.is_error
    and t.theirs.text.endswith("already exists"),
    "below a file: a sentence instead of a raw exception": lambda t: t.name in ("create", "rename")
    and t.ours.text.endswith("is a file, not a directory")
    and t.theirs.raised in ("FileExistsError", "NotADirectoryError"),
    "an empty `old_str` is refused": lambda t: t.command.get("old_str") == ""
    and t.ours.text == "`old_str` must not be empty",
    "overlapping occurrences are several": lambda t: t.name == "str_replace"
    and t.text.count(t.command["old_str"]) == 1
    and "Multiple occurrences" in t.ours.text
    and not t.theirs.is_error,
    "the first 20 occurrences are named, then how many more": lambda t: t.name == "str_replace"
    and re.search(r" and \d+ more\. ", t.ours.text) is not None
    and "Multiple occurrences" in t.theirs.text,
    "a directory cannot be edited because it `does not exist`": lambda t: t.name in ("str_replace", "insert")
    and t.held() is None
    and t.ours.text == f"The path {posixpath.normpath(t.path)} does not exist. Please provide a valid path."
    and t.theirs.text.endswith("is not a file."),
    "no line and no newline of the text is lost by insert": lambda t: t.name == "insert"
    and not t.ours.is_error
    and not t.theirs.is_error
    and (
        t.text.endswith("\n\n")
        or t.command["insert_text"] == ""
        or t.command["insert_text"].endswith("\n")
        or t.text == "\n"
    ),
    "the source is checked before the destination": lambda t: t.name == "rename"
    and t.held("old_path") == "nothing"
    and t.ours.text.endswith("does not exist")
    and (t.theirs.text.endswith("already exists") or bool(t.theirs.raised)),
    "a failed rename leaves no new directories": lambda t: t.name == "rename"
    and t.ours == t.theirs
    and t.ours.is_error
    and t.ours.text.endswith("does not exist"),
    "into itself: a sentence instead of a raw exception": lambda t: t.name == "rename"
    and t.ours.text.startswith("Cannot rename ")
    and " into itself: " in t.ours.text
    and (bool(t.theirs.raised) or t.theirs.text.endswith("already exists")),
}  # fmt: skip

NAMES = ["f", "g", "d", "d/f", "d/e", "d/e/f", "n/m/f", ".h", "node_modules", "node_modules/x", "a b", "é"]
TEXTS = [
    "",
    "\n",
    "a",
    "a\n",
    "a\nb\n",
    "a\nb",
    "aaa",
    "a\r\nb\r\n",
    "x\n\n",
    "\n\n\n",
    "a\n" * 25,
    "é\u2028\x0c\n",
    "\ufeffa\n",
]


def random_path(dice: random.Random) -> str:
    if dice.random() < 0.08:
        return dice.choice(
            ["/memories", "/memories/", "/memories/..", "/memories/d/..", "/memoriesX/f", "/etc/f", "/memories/d/../f",
             "/memories//f", "/memories/d/", "/memories/./f", "/memories/%2e%2e/f",
             "/memories/a\\b", "/memories/" + "n" * 300]
        )  # fmt: skip
    return "/memories/" + dice.choice(NAMES)


def random_command(dice: random.Random) -> dict[str, Any]:
    path, text = random_path(dice), dice.choice(TEXTS)
    match dice.choice(
        ["view", "view", "create", "create", "create", "str_replace", "insert", "insert", "delete", "rename"]
    ):
        case "view":
            command: dict[str, Any] = {"command": "view", "path": path}
            if dice.random() < 0.5:
                command["view_range"] = [dice.randint(-1, 4), dice.choice([-1, -2, 1, 2, 3, 9, 30])]
            return command
        case "create":
            return {"command": "create", "path": path, "file_text": text}
        case "str_replace":
            old = dice.choice(["a", "b", "aa", "a\n", "\n", "", "x", "a\nb"])
            return {
                "command": "str_replace",
                "path": path,
                "old_str": old,
                "new_str": dice.choice(["", "z", "a", "p\nq"]),
            }
        case "insert":
            return {"command": "insert", "path": path, "insert_line": dice.randint(-1, 4), "insert_text": text}
        case "delete":
            return {"command": "delete", "path": path}
        case _:
            return {"command": "rename", "old_path": path, "new_path": random_path(dice)}


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


Ask = Callable[[dict[str, Any]], Said]
Rules = Mapping[str, Callable[[Turn], bool]]


def compare(top: Path, reference: Callable[[Path], Ask], rules: Rules, sequences: int) -> tuple[int, Counter[str]]:
    """Have random commands executed by both.

    Args:
        top: A directory to work in.
        reference: Makes who is asked, over `memories` below a directory.
        rules: What explains a difference.
        sequences: How often to begin with nothing.

    Returns:
        How often both agreed, and how often each rule explained a difference.
    """
    explained: Counter[str] = Counter()
    agreed = 0
    for seed in range(sequences):
        dice = random.Random(seed)
        here = top / str(seed)
        (here / "folder").mkdir(parents=True)
        ask = reference(here / "theirs")
        theirs_root = here / "theirs/memories"
        settings = memtui.Settings(messages="sdk", view_char_limit=0, listing_limit=0)
        store = FolderStore(str(here / "folder"), str(here / "state"))
        with Engine(store, Journal(None), settings=settings) as memory:
            for _ in range(LENGTH):
                command = random_command(dice)
                before = tree(here / "folder")
                answer = memory.execute(command, actor=ME)
                ours = Said(answer.is_error, answer.text.removeprefix("Error: "))
                theirs = ask(command)
                ours_after, theirs_after = tree(here / "folder"), tree(theirs_root)
                if ours == theirs and ours_after == theirs_after:
                    agreed += 1
                    continue
                turn = Turn(command, ours, theirs, before)
                reasons = [name for name, explains in rules.items() if explains(turn)]
                assert reasons, (seed, command, ours, theirs, before)
                explained.update(reasons)
                if ours_after != theirs_after:
                    shutil.rmtree(theirs_root)
                    shutil.copytree(here / "folder", theirs_root)
        shutil.rmtree(here)
    return agreed, explained


def ask_python(top: Path) -> Ask:
    """The class of the SDK for Python."""
    tool = BetaLocalFilesystemMemoryTool(str(top))

    def ask(command: dict[str, Any]) -> Said:
        try:
            return Said(False, str(tool.call(command)))
        except ToolError as error:
            return Said(True, str(error))
        except Exception as error:  # the reference lets the system's exceptions through
            return Said(True, str(error), type(error).__name__)

    return ask


def test_each_difference_from_the_reference_class_is_one_that_the_contract_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # answers are compared, not what a power cut leaves
    agreed, explained = compare(tmp_path, ask_python, RULES, SEQUENCES)
    assert agreed > SEQUENCES * LENGTH / 4
    assert set(RULES) - set(explained) == set(), "a rule that explained nothing"
