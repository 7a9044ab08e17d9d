"""What a verb of the command line is, and what all of them are told.

A verb is one value in one file. Help, completion and dispatch are made from the same values, so a verb cannot
be listed in one of them and missing in another.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that every verb takes, before or after its name."""

    directory: str | None = None
    """The memory folder, as given with `--dir`."""
    state: str | None = None
    """The directory of the journal."""
    read_only: bool = False
    """Whether nothing may be written, nor recorded."""
    json: bool = False
    """Whether the answer is for a program."""
    debug: bool = False
    """Whether errors come with their traceback."""
    quiet: bool = False
    """Whether messages that are no errors are left out."""
    config: str | None = None
    """The file of settings, as given with `--config`."""
    no_config: bool = False
    """Whether no file of settings is read."""
    screen_reader: bool = False
    """Whether sentences and numbered menus were asked for, in place of columns and a full screen."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb."""

    name: str
    summary: str
    """What it does, in a few words, beginning with a small letter."""
    examples: tuple[tuple[str, str], ...]
    """Command lines that work, and what each one shows."""
    arguments: Callable[["Parser"], None]
    """Declares what it takes besides the options that all take."""
    run: Callable[[Options, argparse.Namespace], int]
    """Does it, and returns the exit code."""
    notes: tuple[str, ...] = ()
    """Further lines for its help."""
    keeps_rights: bool = False
    """Whether its process has to write elsewhere, or to reach the network, even with `--read-only`: the others give up
    the right to, where the kernel takes it."""


class Parser(argparse.ArgumentParser):
    """Declares and parses words, and keeps what was declared where help and completion can read it."""

    def __init__(self, prog: str) -> None:
        self.declared: list[argparse.Action] = []
        super().__init__(prog=prog, allow_abbrev=False, add_help=False)

    def add_argument(self, *names: Any, **given: Any) -> argparse.Action:
        """As argparse has it."""
        action = super().add_argument(*names, **given)
        self.declared.append(action)
        return action

    @property
    def options(self) -> list[argparse.Action]:
        """What begins with a dash."""
        return [action for action in self.declared if action.option_strings]

    @property
    def words(self) -> list[argparse.Action]:
        """What does not."""
        return [action for action in self.declared if not action.option_strings]
