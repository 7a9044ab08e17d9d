"""How many tokens a text costs, estimated. Only a model's own tokenizer knows; this needs neither network nor key."""

_CHARACTERS = 4
"""Of English prose, a token has about so many. It is the rule of thumb that the providers of models give."""


def estimate(text: str) -> int:
    """The tokens that a text costs, at about four characters each; a remainder counts as one."""
    return of_characters(len(text))


def of_characters(count: int) -> int:
    """The tokens of so many characters."""
    return -(-count // _CHARACTERS)
