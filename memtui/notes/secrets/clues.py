"""What of the words that name secrets is in a text: looked for once, for everybody who looks for such names.

To ask a text for a word costs little, but there are some two hundred such words, and in most notes none of them.
"""

_CLUES = (
    "pass", "pw", "key", "secret", "token", "cred", "log", "auth",
    "kennwort", "zugang", "anmeldung", "senha", "contrase", "wachtwoord", "heslo", "parola", "salasana",
)  # fmt: skip


def lowered_of(text: str) -> str:
    """The text in lower case, with every character in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(small if len(small := character.lower()) == 1 else character for character in text)
    return lowered


def clues_of(lowered: str) -> frozenset[str]:
    """Those of them that are in a text.

    Args:
        lowered: The text in lower case.
    """
    return frozenset([clue for clue in _CLUES if clue in lowered])


def places_of(lowered: str, name: str) -> list[int]:
    """Where a word is in a text, from the beginning on.

    Args:
        lowered: The text in lower case.
        name: The word, in lower case.
    """
    found: list[int] = []
    at = lowered.find(name)
    while at >= 0:
        found.append(at)
        at = lowered.find(name, at + len(name))
    return found
