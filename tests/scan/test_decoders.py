"""Secrets that stand in a note in other characters than their own, or in pieces: split, wrapped, escaped, encoded."""

import base64
import json
import tracemalloc
from collections.abc import Callable

import pytest

from memtui.scan.decoders import decode_lines
from memtui.scan.ruleset import load_rules
from memtui.scan.samples import make_sample
from memtui.scan.secrets import find_secrets
from tests.bench.limits import at_most

_FORMS = [
    (entry.id, form)
    for entry in load_rules("secrets").values()
    for form in entry.forms
    if form.keys() & {"keywords", "contains", "lengths"} and "assigned_to" not in form
]
_KEYS = sorted({rule for rule, _ in _FORMS})
_LONG = 30
"""Characters of a key of which a half is long enough to be looked at when lines are wrapped."""


def _parts(rule: str) -> tuple[str, str, str]:
    """A key of a kind: what stands before its value, the value, and what stands behind it."""
    made = make_sample(rule)
    (span,) = [spot.masked or (spot.start, spot.end) for spot in find_secrets(made) if spot.rule == rule]
    return made[: span[0]], made[slice(*span)], made[span[1] :]


def _hidden(text: str, rule: str) -> str:
    """What of a text the one secret in it hides, which is of that kind."""
    spots = list(find_secrets(text))
    assert [spot.rule for spot in spots] == [rule]
    assert spots[0].masked is not None
    assert text[slice(*spots[0].masked)] not in spots[0].words
    return text[slice(*spots[0].masked)]


_WRAPPED = sorted({rule for rule, form in _FORMS if "keywords" in form and len(_parts(rule)[1]) >= _LONG})


@pytest.mark.parametrize(
    ("rules", "carrier", "between"),
    [
        (_KEYS, "export KEY={}\n", "\\\n    "),
        (_KEYS, 'key = "{}"\n', '" "'),
        (_KEYS, 'key = (\n    "{}"\n)\n', '"\n    "'),
        (_KEYS, "const key = '{}';\n", "' + '"),
        (_KEYS, "const key = '{}';\n", "' +\n    '"),
        (_KEYS, 'key = "{}" # the old one\n', '" \\\n    "'),
        (_WRAPPED, "Here it is: {}\n\nThen go on.\n", "\n"),
        (_WRAPPED, "- Here it is: {}\n  and then go on.\n", "\n  "),
        (_WRAPPED, "> Here it is: {}\n> Then go on.\n", "\n> "),
        (_WRAPPED, "# here it is: {}\n# then go on\n", "\n# "),
        (_WRAPPED, "key: >-\n  {}\nother: 1\n", "\n  "),
        (_WRAPPED, "key: {}\n", "\r\n\t"),
    ],
)
def test_a_key_in_two_pieces_is_found_and_both_are_hidden(rules: list[str], carrier: str, between: str) -> None:
    for rule in rules:
        before, value, behind = _parts(rule)
        half = len(value) // 2
        pieces = value[:half] + between + value[half:]
        assert _hidden(carrier.format(before + pieces + behind), rule) == pieces


def test_a_key_in_many_lines_is_found() -> None:
    for rule in ("anthropic-key", "atlassian-token", "signed-token"):
        before, value, behind = _parts(rule)
        pieces = "\n".join(value[at : at + 24] for at in range(0, len(value), 24))
        assert _hidden(f"It is\n{before}{pieces}{behind}\n\nand no more\n", rule).split() == pieces.split()


def test_the_lines_around_a_key_are_not_taken_for_more_of_it() -> None:
    value = make_sample("anthropic-key")
    for text in (
        f"{value}\nwhich-is-the-key-of-the-demo\n",
        f"{value}\nversion-2 of it works\n",
        f"the-key-of-the-demo\n{value}\n2026-03-05\n",
        f"{value}\nclaude-opus4 is the model\n",
    ):
        assert _hidden(text, "anthropic-key") == value
    several = [make_sample("anthropic-key", seed) for seed in range(3)]
    text = "\n".join(several)
    assert [text[slice(*spot.masked)] for spot in find_secrets(text) if spot.masked] == several


def test_a_wrapped_key_is_known_by_its_name_too() -> None:
    value = make_sample("aws-secret").rpartition(" ")[2]
    text = f"aws_secret_access_key = {value[:20]}\n{value[20:]}\n"
    assert _hidden(text, "aws-secret") == f"{value[:20]}\n{value[20:]}"


@pytest.mark.parametrize("sign", ["|", ">", ">-", "|2-"])
def test_a_block_of_yaml_behind_the_name_of_a_secret_is_found(sign: str) -> None:
    value = "q9Zx7Lm2" + "Rt8Kp4Vw6Ns3Bd1Gh"
    text = f"api_key: {sign}\n  {value[:12]}\n  {value[12:]}\nother: 1\n"
    assert _hidden(text, "password-assignment") == f"{value[:12]}\n  {value[12:]}"
    assert list(find_secrets(f"api_key: {sign}\n  ask the people who run it\n")) == []


_ESCAPES: dict[str, Callable[[str], str]] = {
    "json": lambda value: "".join(c if c.isalnum() else f"\\u{ord(c):04x}" for c in value),
    "markdown": lambda value: "".join(c if c.isalnum() else f"\\{c}" for c in value),
    "percent": lambda value: "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in value),
    "html": lambda value: "".join(c if c.isalnum() else f"&#{ord(c)};" for c in value),
    "named": lambda value: value.replace("_", "&lowbar;").replace("-", "&#x2d;").replace(".", "&period;"),
    "hexadecimal": lambda value: "".join(f"\\x{ord(c):02x}" for c in value),
}


@pytest.mark.parametrize("kind", _ESCAPES)
def test_an_escaped_key_is_found_and_hidden_whole(kind: str) -> None:
    looked_at = 0
    for rule in _KEYS:
        before, value, behind = _parts(rule)
        written = _ESCAPES[kind](value)
        if written == value or ("%" in value and kind != "percent"):
            continue  # nothing in it is ever escaped so, or it is already
        text = f"It is {before}{written}{behind} and no other.\n"
        hidden = [text[slice(*spot.masked)] for spot in find_secrets(text) if spot.rule == rule and spot.masked]
        assert (rule, hidden) == (rule, [written])
        looked_at += 1
    assert looked_at > len(_KEYS) // 2


def test_a_password_in_a_string_of_json_is_found() -> None:
    value = "hunter22" + "xQ"
    inner = json.dumps({"password": value, "user": "ada"})
    assert _hidden(json.dumps({"body": inner}), "password-assignment") == value
    assert _hidden(f"DB\\_PASSWORD={value}!\n", "password-assignment") == f"{value}"


def test_a_key_in_base64_is_found_and_says_so() -> None:
    for rule in _KEYS:
        written = base64.b64encode(f"{make_sample(rule)}\n".encode()).decode()
        for text in (f"It is {written} for now.\n", f"data:\n  key: {written}\n"):
            (spot,) = find_secrets(text)
            assert (spot.rule, spot.masked) == (rule, (text.index(written), text.index(written) + len(written)))
            assert spot.words.endswith(", in base64")


def test_a_private_key_in_base64_is_found() -> None:
    written = base64.b64encode(make_sample("private-key").encode()).decode()
    assert _hidden(f"client-key-data: {written}\n", "private-key") == written


def test_what_only_looks_encoded_is_left_alone() -> None:
    for text in (
        "integrity sha512-" + base64.b64encode(bytes(range(64))).decode(),
        "https://docs.example.com/Some/Long/PathName/With2024/Capitals",
        "config: " + base64.b64encode(b'{"name": "memtui", "version": 3, "nothing": "secret"}').decode(),
        "a \\_ b \\- c %20 d &amp; e \\u0041 f 'x' + 'y' \"a\" \"b\"",
    ):
        assert list(find_secrets(text)) == []


def test_a_reading_leads_back_to_the_places_of_the_text() -> None:
    text = 'plain line\nsk\\-ant\\_x "a" + "b" &lt;tag&gt; %41\u200b!\nlast line\n'
    (read, unseen) = decode_lines(text)
    assert read.text == 'sk-ant_x "ab" <tag> A!'
    assert unseen.text == 'sk\\-ant\\_x "a" + "b" &lt;tag&gt; %41!'


def test_a_text_that_says_what_it_shows_is_read_once() -> None:
    assert list(decode_lines("# Title\n\nIt's \"so\" and 'so', a/b, 5 of 6.\n")) == []


def test_the_way_back_from_a_reading_takes_little_room() -> None:
    text = "%41" * 20_000
    tracemalloc.start()
    try:
        (read,) = decode_lines(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(read.text) == 20_000
    assert peak < 40 * len(text)  # it was 130


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize(
    "piece",
    ["\\_", "\\", "'a' + ", 'a" + "b', "%41", "&#65;", "a\\\nb", "sk-ant-aaaa9\n", "abcdefghijklmnop9Q\n> ", "QUtJQQ",
     "k\u200b", "machine a login b password ", "123-45-6789 ", "api_key: |\n  abc123\n", "password=*“",
     "ghp_aB3+aB3+aB3+aB3+aB3+aB3+aB3+aB3+\n"],
)  # fmt: skip
def test_a_hostile_line_takes_no_long_time(piece: str) -> None:
    text = piece * (250_000 // len(piece))
    with at_most(3):
        assert all(spot.start < spot.end for spot in find_secrets(text))
