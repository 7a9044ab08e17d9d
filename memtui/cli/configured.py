"""The settings of a command line: what its flags say, then the environment, then the file."""

from typing import TYPE_CHECKING

from memtui.cli import output
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options

if TYPE_CHECKING:
    from memtui.config import Loaded
    from memtui.core.settings import Settings


def configured(options: Options, folder: str | None = None) -> "Loaded":
    """The settings, each with where it is from, and what could not be used.

    Args:
        options: Say which file, if any.
        folder: The memory folder, once it is known: no file inside it is used.

    Raises:
        Failure: The file that was named cannot be read.
    """
    from memtui.config import NoConfig, load  # for start-up cost: some verbs ask for no setting

    flags: dict[str, tuple[str, object]] = {}
    if options.directory is not None:
        flags["dir"] = ("--dir", options.directory)
    if options.screen_reader:
        flags["ui.screen_reader"] = ("--screen-reader", True)
    try:
        return load(path=options.config, use_file=not options.no_config, folder=folder, flags=flags)
    except NoConfig as error:
        raise Failure(Exit.MISSING, str(error)) from error


def memory_settings(options: Options, folder: str) -> "Settings":
    """How commands behave in a folder. What could not be used is said beside the output."""
    loaded = configured(options, folder)
    complain(loaded, options)
    return loaded.config.memory


def complain(loaded: "Loaded", options: Options) -> None:
    """Say what could not be used, unless nothing is to be said."""
    for problem in () if options.quiet else loaded.problems:
        output.message(problem.sentence)
