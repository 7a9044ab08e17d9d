"""Secrets: what whoever reads a note could use, or must not know.

The rules are a list that we keep, in `memtui.notes.secrets`. How many of what they should find they find, and how much
else, is measured on the corpus of the tests.
"""

import re
from collections.abc import Iterator

from memtui.audit.families.examples import made_up
from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.masking import without_secrets
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject
from memtui.notes.secrets import secrets
from memtui.notes.secrets.named import NAMED
from memtui.notes.secrets.shapes import SHAPES

_WHY = (
    "Whoever reads the note can use it: every agent that loads it, whoever runs the model, and everybody with whom the"
    " folder is shared or backed up."
)
_DO = "Revoke it where it was issued and make a new one; then remove it here, and write down where the new one is kept."
_GOOD = "The key is in the vault, under staging/{}; the service reads it from there."


def _key(rule: str, words: str) -> Rule:
    return Rule(
        id=rule,
        family=Family.SECRET,
        severity=Severity.FAIL,
        title=words[0].upper() + words[1:],
        why=_WHY,
        do=_DO,
        bad=f"For staging use this one: {made_up(rule)}\n",
        good=_GOOD.format(rule) + "\n",
    )


def _keys() -> Iterator[Rule]:
    seen = set()
    for rule, words in (
        *((shape.rule, shape.words) for shape in SHAPES),
        *((rule, words) for _, _, rule, words, _ in NAMED),
    ):
        if rule not in seen:
            seen.add(rule)
            yield _key(rule, words)


_LONG = re.compile(r"(?=[A-Za-z_.-]*[0-9])[A-Za-z0-9_.+=-]{16}")
"""What has to stand in a name that holds a secret."""

RULES: tuple[Rule, ...] = (
    *_keys(),
    _key("signed-token", "a signed web token"),
    _key("private-key", "a private key"),
    _key("google-account", "a key of a service account of Google"),
    _key("authorization-header", "credentials in a header"),
    _key("registry-token", "a token of a package registry"),
    _key("registry-login", "a name and a password of a registry"),
    Rule(
        id="password-hash",
        family=Family.SECRET,
        severity=Severity.WARN,
        title="A name and the hash of its password",
        why="Whoever has the hash can try passwords on it as fast as a machine can; short ones are found in hours.",
        do="Change the password, then remove the line; write down where the accounts are kept.",
        bad=f"{made_up('password-hash')}\n",
        good="The accounts are in the vault, under staging/htpasswd; the proxy reads them from there.\n",
    ),
    Rule(
        id="password-in-address",
        family=Family.SECRET,
        severity=Severity.FAIL,
        title="A password within an address",
        why=_WHY,
        do="Change the password, then write the address without it.",
        bad=f"The replica is {made_up('password-in-address')}\n",
        good="The replica is postgres://app:${DB_PASSWORD}@db.internal/app\n",
    ),
    Rule(
        id="password-assignment",
        family=Family.SECRET,
        severity=Severity.FAIL,
        title="A password or a key behind its name",
        why=_WHY,
        do="Change it, then write down where it is kept in its stead, such as the name of a variable.",
        bad=f"- {made_up('password-assignment')}\n",
        good='- password: see 1Password\n- api_key = os.environ["API_KEY"]\n',
    ),
    Rule(
        id="payment-card",
        family=Family.SECRET,
        severity=Severity.FAIL,
        title="The number of a payment card",
        why="Numbers of cards may be kept only where rules for that are followed (PCI DSS), and no memory does.",
        do="Remove it, and tell whom it belongs to; keep at most the last four digits.",
        bad=f"She paid with {made_up('payment-card')}\n",
        good="She paid with the card that ends in 4471; in the sandbox use 4242 4242 4242 4242\n",
    ),
    Rule(
        id="bank-account",
        family=Family.SECRET,
        severity=Severity.WARN,
        title="The number of a bank account",
        why="It belongs to somebody, and is what a forged invoice needs.",
        do="Remove it, or write down where it is kept; leave it if it is your own and meant to be known.",
        bad=f"Refund to {made_up('bank-account')}\n",
        good="Refund to the account on file; an example of the form is DE89 3704 0044 0532 0130 00\n",
    ),
    Rule(
        id="national-id",
        family=Family.SECRET,
        severity=Severity.WARN,
        title="A number that a state gave to a person",
        why="It names one person for a lifetime, and opens accounts in her name.",
        do="Remove it; if it is needed, write down in which system it is kept.",
        bad=f"For the contract: {made_up('national-id')}\n",
        good="For the contract ask HR for her number; the ticket is 2025-11-0093\n",
    ),
)


def in_note(note: Note, subject: Subject) -> Iterator[Hit]:
    """The secrets in one note."""
    del subject
    if note.text is not None:
        for spot in secrets(note.text):
            yield Hit(
                rule=spot.rule, path=note.path, words=spot.words, start=spot.start, end=spot.end, masked=spot.masked
            )


def across(subject: Subject) -> Iterator[Hit]:
    """The secrets in names of files and directories: a listing shows them to everybody, and so does a report.

    The place is told whole. It is what a person opens the file by, and what a baseline, an exemption and SARIF know it
    by: a masked one would lead nowhere, and two files might have the same. The words and the evidence do not repeat it.
    """
    for path in (*subject.notes, *subject.others):
        name = path.rpartition("/")[2]
        if _LONG.search(name):
            for spot in secrets(name):
                yield Hit(
                    rule=spot.rule,
                    path=path,
                    words=f"{spot.words}, in the name itself",
                    evidence=without_secrets([name])[0],
                    identity=spot.rule,
                )
