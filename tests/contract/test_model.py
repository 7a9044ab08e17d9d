"""Random commands against a model of CONTRACT.md: exact text, `is_error`, and the bytes on the disk after each."""

import random
from typing import Any

import pytest

from memtui.core.edits import format_human_size

NAMES = ("a", "b.md", "c d", "ü")
TEXTS = ("", "\n", "one\n", "one\ntwo\nthree\n", "two\r\none", "aaa", "one\n\n", "x\u2028y\n")
PIECES = ("one", "two", "a", "aa", "\n", "nothing", "", "o")


class Refused(Exception):
    """The model's refusal; the message is its text."""


class ContractModel:
    """The tables of CONTRACT.md over a dict: a text by path, `None` for a directory, paths relative to the folder."""

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self.tree: dict[str, str | None] = {}

    def execute(self, command: dict[str, Any]) -> tuple[str, bool]:
        kept = dict(self.tree)
        try:
            return getattr(self, command["command"])(**{k: v for k, v in command.items() if k != "command"}), False
        except Refused as refused:
            self.tree = kept
            return str(refused), True

    def view(self, path: str, view_range: list[int] | None = None) -> str:
        place = _relative(path)
        if place and place not in self.tree:
            raise Refused(f"The path {path} does not exist. Please provide a valid path.")
        text = self.tree.get(place)
        if text is None:
            return self._list(place, path)
        lines, n_lines, first = text.split("\n"), _count(text), 1
        if view_range is not None:
            start, end = view_range
            start = max(start, 1)
            if end == -1 and start <= n_lines:
                lines, first = lines[start - 1 :], start
            elif start <= min(end, n_lines):
                lines, first = lines[start - 1 : min(end, n_lines)], start
            else:
                raise Refused(
                    f"Error: Invalid `view_range` parameter: [{view_range[0]}, {view_range[1]}]. It should be "
                    f"[start_line, end_line] within the range of lines of the file: [1, {n_lines}], or [start_line, -1]"
                )
        return f"Here's the content of {path} with line numbers:\n{_number(lines, first)}"

    def _list(self, place: str, path: str) -> str:
        depth = place.count("/") + 1 if place else 0

        def size(top: str) -> str:
            below = (each for each in self.tree if not top or each == top or each.startswith(top + "/"))
            return format_human_size(sum(len((self.tree[each] or "").encode()) for each in below))

        shown = [
            each
            for each in self.tree
            if (not place or each.startswith(place + "/")) and each.count("/") - depth < 2 and each != place
        ]
        rows = [f"{size(place)}\t{path}"]
        rows += (
            f"{size(each)}\t/memories/{each}{'/' if self.tree[each] is None else ''}"
            for each in sorted(shown, key=lambda each: each.split("/"))
        )
        head = (
            f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
        )
        return "\n".join([head, *rows])

    def create(self, path: str, file_text: str) -> str:
        place = _relative(path)
        if not place or (place in self.tree and self.tree[place] is None):
            raise Refused(f"Error: File {path} already exists")
        self._make_parents(place, f"Error: Cannot create {path}")
        self.tree[place] = file_text
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        if not old_str:
            raise Refused("Error: `old_str` must not be empty")
        text = self.tree.get(_relative(path))
        if text is None:
            raise Refused(f"Error: The path {path} does not exist. Please provide a valid path.")
        places = [at for at in range(len(text)) if text.startswith(old_str, at)]
        if not places:
            raise Refused(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if len(places) > 1:
            numbers = ", ".join(str(text.count("\n", 0, at) + 1) for at in places)
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {numbers}. "
                "Please ensure it is unique"
            )
        edited = text.replace(old_str, new_str)
        self.tree[_relative(path)] = edited
        line = text.count("\n", 0, places[0])
        first = max(line - 2, 0)
        snippet = _number(edited.split("\n")[first : line + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        text = self.tree.get(_relative(path))
        if text is None:
            words = f"The path {path} does not exist"
            raise Refused(f"{words}. Please provide a valid path." if self.profile == "sdk" else f"Error: {words}")
        n_lines = _count(text)
        if not 0 <= insert_line <= n_lines:
            words = f"Invalid `insert_line` parameter: {insert_line}. It should be within the range "
            lines = f"[0, {n_lines}]"
            raise Refused(
                f"{words}{lines}." if self.profile == "sdk" else f"Error: {words}of lines of the file: {lines}"
            )
        lines = text.removesuffix("\n").split("\n") if text else []
        lines.insert(insert_line, insert_text.removesuffix("\n"))
        self.tree[_relative(path)] = "\n".join(lines) + "\n"
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        place = _relative(path)
        if not place:
            raise Refused("Error: Cannot delete the /memories directory itself")
        if place not in self.tree:
            raise Refused(f"Error: The path {path} does not exist")
        for each in self._below(place):
            del self.tree[each]
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        old, new = _relative(old_path), _relative(new_path)
        if not old:
            raise Refused("Error: Cannot rename the /memories directory itself")
        if old not in self.tree:
            raise Refused(f"Error: The path {old_path} does not exist")
        if new.startswith(old + "/"):
            raise Refused(f"Error: Cannot rename {old_path} into itself: {new_path}")
        if not new or new in self.tree:
            raise Refused(f"Error: The destination {new_path} already exists")
        self._make_parents(new, f"Error: Cannot rename to {new_path}")
        for each in self._below(old):
            self.tree[new + each[len(old) :]] = self.tree.pop(each)
        return f"Successfully renamed {old_path} to {new_path}"

    def _below(self, place: str) -> list[str]:
        return [each for each in self.tree if each == place or each.startswith(place + "/")]

    def _make_parents(self, place: str, words: str) -> None:
        parts = place.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if self.tree.setdefault(parent, None) is not None:
                raise Refused(f"{words}: /memories/{parent} is a file, not a directory")


def _relative(path: str) -> str:
    return path.removeprefix("/memories").removeprefix("/")


def _count(text: str) -> int:
    return len(text.removesuffix("\n").split("\n")) if text else 0


def _number(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, first))


def make_command(chance: random.Random) -> dict[str, Any]:
    def path() -> str:
        return "/".join(("/memories", *chance.choices(NAMES, k=chance.choice((0, 1, 1, 1, 2, 2, 3)))))

    def number() -> int:
        return chance.randint(-2, 5)

    match chance.choice(("create", "create", "view", "str_replace", "insert", "delete", "rename")):
        case "create":
            return {"command": "create", "path": path(), "file_text": chance.choice(TEXTS)}
        case "view":
            given = {"view_range": [number(), number()]} if chance.random() < 0.4 else {}
            return {"command": "view", "path": path(), **given}
        case "str_replace":
            new = chance.choice(PIECES)
            return {"command": "str_replace", "path": path(), "old_str": chance.choice(PIECES), "new_str": new}
        case "insert":
            return {"command": "insert", "path": path(), "insert_line": number(), "insert_text": chance.choice(TEXTS)}
        case "delete":
            return {"command": "delete", "path": path()}
        case _:
            return {"command": "rename", "old_path": path(), "new_path": path()}


@pytest.mark.parametrize("profile", ["docs", "sdk"])
@pytest.mark.parametrize("seed", range(2))
def test_random_commands_are_answered_as_the_contract_says(world: Any, profile: str, seed: int) -> None:
    chance, model, engine = random.Random(seed), ContractModel(profile), world.engine(messages=profile)
    for step in range(400):
        command = make_command(chance)
        expected = model.execute(command)
        answer = world.ask(engine, **command)
        assert (answer.text, answer.is_error) == expected, (seed, step, command)
        tree = {path: None if text is None else text.encode() for path, text in model.tree.items()}
        assert world.tree() == tree, (seed, step, command)
    assert engine.reconcile() == 0
