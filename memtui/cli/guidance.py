"""What a person wants remembered, from the command line: her words, or a file that holds them."""

import argparse
import os
from pathlib import Path

LONGEST = 100_000
"""Characters of the longest text that is taken."""


def guidance(given: str) -> str:
    """A text, or what a file of that name holds; for argparse.

    Raises:
        argparse.ArgumentTypeError: It is written as a file, and cannot be read as one.
    """
    if "\n" in given or not os.path.isfile(os.path.expanduser(given)):
        if "\n" not in given and " " not in given and (os.sep in given or given.endswith((".md", ".txt"))):
            raise argparse.ArgumentTypeError(f"there is no file {given}")
        return given
    return text_in_file(given)


def text_in_file(given: str) -> str:
    """What a file holds; for argparse.

    Raises:
        argparse.ArgumentTypeError: It cannot be read, or is too long.
    """
    try:
        text = Path(given).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else "it is not UTF-8"
        raise argparse.ArgumentTypeError(f"{given} cannot be read: {reason}") from None
    if len(text) > LONGEST:
        raise argparse.ArgumentTypeError(f"{given} is too long; {LONGEST:,} characters are enough")
    return text
