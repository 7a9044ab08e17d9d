"""What a reviewer is pointed to. The secrets are made up, and put together so that no scanner takes them for real."""

import zlib

import pytest

from memtui.scan.checksums import encode_base62
from memtui.scan.flags import FLAGS, find_flags, find_spots
from tests.bench.limits import at_most

_LETTERS = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG"

_SECRETS = [
    "sk-ant-" + "api03-" + _LETTERS,
    "sk-" + "proj-" + _LETTERS,
    "ghp" + "_" + _LETTERS[:30] + encode_base62(zlib.crc32(_LETTERS[:30].encode())),
    "github" + "_pat_" + _LETTERS[:22] + "_" + _LETTERS + _LETTERS[:27],
    "glpat" + "-" + _LETTERS[:20],
    "AKIA" + "QW3RT5YU7IOP2SDF",
    "xoxb" + "-123456789012-" + _LETTERS,
    "AIza" + _LETTERS + "xY9",
    "sk_" + "live_" + _LETTERS,
    "npm" + "_" + _LETTERS[:30] + encode_base62(zlib.crc32(_LETTERS[:30].encode())),
    "hf" + "_" + _LETTERS + "aB",
    "SG." + _LETTERS[:22] + "." + _LETTERS + "aB3dE5gH7jK",
    "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nabc",
    "-----BEGIN " + "PRIVATE KEY-----\nabc",
    "postgres://app:" + "hunter2secret@db.internal",
    "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + _LETTERS,
]


@pytest.mark.parametrize("secret", _SECRETS)
def test_a_secret_is_found_wherever_it_stands_and_is_not_said_again(secret: str) -> None:
    text = f'Some words.\nkey = "{secret}" and more\n'
    assert find_flags(text, "a.md") == {"secret"}
    spot = find_spots(text, "a.md")[0]
    assert text[spot.start : spot.end] in (secret, secret.partition("\n")[0])
    assert secret not in spot.words


@pytest.mark.parametrize(
    "text",
    [
        "Set sk-ant-... in the environment, or sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE is the one of the documentation",
        "ghp_" + "a" * 36,
        "postgres://user:<password>@host/db or postgres://user:${PASSWORD}@host",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://example.org:8080/a@b, me@example.org, 10:14:03, task-force-of-the-century-and-more",
        "-----BEGIN PUBLIC KEY-----\nabc",
        "a family 👨‍👩‍👧 of emoji, naïve, 日本語, می‌خواهم",
        "windows\r\nline\r\nends\r\n",
        "\ufeffwith a mark at the beginning",
        "`<!-- in code -->`",
    ],
)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    assert find_flags(text, "a.md") == frozenset()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\u200bb", "an invisible character, <U+200B> (zero width space)"),
        ("a\u202eb", "a bidirectional override, <U+202E>: the text after it is shown right to left"),
        ("a\U000e0041b", "hidden text in tag characters: “A”"),
        ("a\x1b[31mb", "an escape sequence that colours text, \\x1b[31m"),
        ("a\ufeffb", "an invisible character, <U+FEFF> (zero width no-break space)"),
        ("a\rb", "a control code, \\x0d"),
        ("a <!-- a word --> b", "a comment that is not shown: “a word”"),
        ("a <!-- never closed", "a comment that is not shown, and never closed: all that follows is hidden"),
    ],
)
def test_what_is_not_shown_is_hidden(text: str, words: str) -> None:
    assert find_flags(text, "a.md") == {"hidden"}
    assert [spot.words for spot in find_spots(text, "a.md")] == [words]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b"\xff\xfe", "a.md"),
        ('{"a": }', "a.json"),
        ("", "a.json"),
        ("[" * 100_000, "a.json"),
        ('{"a": 1}\n{"b": \n', "a.jsonl"),
        ("---\na: [1\n---\n", "a.md"),
    ],
)
def test_what_cannot_be_read_is_broken(text: str | bytes, path: str) -> None:
    assert find_flags(text, path) == {"broken"}


def test_a_comment_is_hidden_only_where_notes_are_rendered() -> None:
    assert find_flags("<a><!-- x --></a>", "a.xml") == frozenset()
    assert find_flags("<a><!-- in words --></a>", "a") == {"hidden"}


def test_what_can_be_read_is_not_broken() -> None:
    assert find_flags('\ufeff{"a": [1, 2]}', "a.json") == frozenset()
    assert find_flags('{"a": 1}\n\n{"b": 2}\n', "a.jsonl") == frozenset()
    assert find_flags("{not json", "a.md") == frozenset()
    assert set(FLAGS) == {"secret", "hidden", "planted", "broken"}


@pytest.mark.parametrize("piece", ["sk-ant-", "eyJ", "://a:", "<!--", "xoxb-", "A", "`", "` `` ", "-----BEGIN A "])
def test_a_note_that_means_harm_is_looked_through_in_no_time(piece: str) -> None:
    with at_most(2):
        found = find_flags(piece * (200_000 // len(piece)), "a.md")
    assert found <= set(FLAGS) - {"broken"}
