"""How a command ends: the codes that scripts rely on, and the sentence that a person reads."""

from enum import IntEnum

from memtui.core.errors import MemtuiError


class Exit(IntEnum):
    """The exit codes, in one place. A process that a signal ended is the shell's to number: 143, 129."""

    OK = 0
    FINDINGS = 1
    """It worked, and the answer is no: a command was refused, a check failed."""
    USAGE = 2
    """The command line is wrong, or there is no terminal to draw on."""
    MISSING = 3
    """A folder or file is not there, or cannot be read."""
    REFUSED = 4
    """Read-only, or outside the memory folder."""
    CONFLICT = 5
    """Somebody else has changed it, or is at it now."""
    API = 6
    """The model's server could not be asked, or did not answer: no key, no network, a fault of its own."""
    INTERNAL = 70
    """A bug; the log file has the traceback."""
    OUTPUT = 74
    """The answer could not be written, such as to a full disk."""
    INTERRUPTED = 130
    PIPE = 141


class Failure(MemtuiError):
    """The command ends here, with a sentence that says what happened, why, and what to do.

    Attributes:
        code: The exit code.
    """

    def __init__(self, code: Exit, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
