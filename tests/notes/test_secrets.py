"""Secrets and what only looks like one. Whatever looks real here is put together when the test runs."""

import time

import pytest

from memtui.audit.families.examples import made_up
from memtui.notes.secrets import secrets
from memtui.notes.secrets.checksums import ends_in_its_checksum, luhn, mod_97, verhoeff
from memtui.notes.secrets.shapes import SHAPES

_W = "k7Rz2mQx9bTn4vLs8dHw"
_KEY = "q9Z" + "x7Lm2Rt8Kp4Vw6Ns3Bd1Gh"
_HEX = "9f86d081884c7d659a2feaa0c55ad015"


def _rules(text: str) -> list[str]:
    return [spot.rule for spot in secrets(text)]


@pytest.mark.parametrize("rule", sorted({shape.rule for shape in SHAPES}))
@pytest.mark.parametrize("carrier", ["{}", "key={}\n", '"{}",', "`{}`", "(see {})", "a\n\n{}\nb"])
def test_a_key_is_found_by_its_shape_and_is_masked_whole(rule: str, carrier: str) -> None:
    for seed in range(3):
        value = made_up(rule, seed)
        text = carrier.format(value)
        spots = list(secrets(text))
        assert [(spot.flag, spot.rule) for spot in spots] == [("secret", rule)]
        assert spots[0].masked is not None
        start, end = spots[0].masked
        assert len(text[start:end]) >= 14
        assert text[start:end] in value
        assert text[start:end] not in spots[0].words


def test_a_token_with_another_checksum_was_made_up_and_is_not_told() -> None:
    for rule in ("github-token", "npm-token"):
        token = made_up(rule)
        assert ends_in_its_checksum(token)
        other = token[:-1] + ("A" if token[-1] != "A" else "B")
        assert _rules(f"token: {token}") == [rule]
        assert _rules(f"token: {other}") == []


def test_the_checksums_are_those_that_are_published() -> None:
    assert ends_in_its_checksum("ghp_" + "zQWBuTSOoRi4A9spHcVY5ncns" + "DkxkJ" + "0mLq17")  # shown by GitHub, revoked
    assert luhn("4242424242424242")
    assert not luhn("4242424242424241")
    assert verhoeff("2363")
    assert not verhoeff("2364")
    assert mod_97("GB82WEST12345698765432")
    assert not mod_97("GB82WEST12345698765433")


@pytest.mark.parametrize(
    "text",
    [
        "- password: hunter2" + "secret",
        "password = '" + _W + "'",
        "DB_PASSWORD=" + _W,
        'export API_KEY="' + _KEY + '"',
        '{"client_secret": "' + _KEY + '"}',
        "token: " + _KEY,
        "secret_key: '" + _KEY + "'  # rotate",
        "the password for the wiki is Blue42" + "Sky",
        "Passwort: Sommer" + "2024!",
        "mot de passe : Soleil" + "99!x",
        "contraseña: Verano" + "2024x",
        "пароль: Zima" + "2024x",
        "密码:Xia" + "tian88x",
        "mysql --password=" + _W,
        "mytool --token " + _KEY,
        "https://api.example.com/x?api_key=" + _KEY + "&page=2",
        "<password>" + _W + "</password>",
        "**Password:** " + _W,
        "spring.datasource.password=" + _W,
        'dbPassword: "P@ss' + 'w0rd!9"',
        "curl -u admin:" + _W + " https://example.com",
    ],
)
def test_a_value_behind_the_name_of_a_secret_is_found(text: str) -> None:
    assert _rules(text) == ["password-assignment"]
    spot = next(secrets(text))
    assert spot.masked is not None
    value = text[slice(*spot.masked)]
    assert len(value) >= 6
    assert " " not in value


@pytest.mark.parametrize(
    "text",
    [
        "password: ${DB_PASSWORD}",
        "password = $PASSWORD",
        "password: {{ vault.db }}",
        'api_key = os.environ["API_KEY"]',
        "apiKey: process.env.API_KEY",
        "token = getpass.getpass('Token: ')",
        "secret: <your secret>",
        "API_KEY=your-api-key-here-1234",
        "PASSWORD=changeme",
        "PASSWORD=change-me-123",
        "password: see 1Password",
        "Passwords are in 1Password, vault Platform9.",
        "password: at least 12 characters",
        "password: required",
        "token: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token: 8c1f0ab",
        "api_key: 7d4661f9-e710-4826-bf18-6cc9082989e3",
        "secret: sha256:" + _HEX,
        "password_hash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA'",
        "max_tokens: 8192",
        "token_count = 48213",
        "password_min_length = 12",
        "tokens: 10.4k",
        "next_page_token: CAoQAhoLZXhhbXBsZS1pZDk4NzY1NDMyMQ9x",
        "tokenizer: cl100k_base_v2_2024x",
        "public_key: AAAAC3NzaC1lZDI1NTE5AAAAIg9a2bE7Mz27DkFO",
        "secret: projects/42/secrets/db/versions/3",
        "secret: vault:secret/data/db9#token",
        "password: op://Platform/db9/password",
        "password_file: /run/secrets/db9",
        'password = request.form["password"]',
        "token = await getToken(user1)",
        "token: github-token-prod",
        "secret: DB_SECRET_2024",
        "password: ********",
        "password: xxxxxxxxxx1",
        "password: 2026-03-05",
        "Password reset: 30 minutes",
        "token: 1.2.3-beta4",
        "key: value12345678901234",
        "the token is refreshed every 15 minutes",
        "secret santa: draw on the 12th",
        "api key: ask Mei2",
        "session_token: None",
    ],
)
def test_references_placeholders_hashes_and_words_are_no_passwords(text: str) -> None:
    assert _rules(text) == []


def test_a_secret_key_of_aws_is_found_beside_its_id() -> None:
    secret = "wJ4r" + "XUt9nFEMI/K7MDENG+bPxRfiCYz2Qa8LkVe0"[:36]
    assert len(secret) == 40
    text = f"id {made_up('aws-key')}\nsecret {secret}\n"
    assert sorted(_rules(text)) == ["aws-key", "aws-secret"]
    assert {spot.flag for spot in secrets(text)} == {"secret"}
    assert _rules(f"a hash of forty: {secret}") == []


def test_a_private_key_masks_its_whole_block() -> None:
    text = "before\n" + made_up("private-key") + "\nbehind\n"
    (spot,) = secrets(text)
    assert spot.rule == "private-key"
    assert spot.masked is not None
    hidden = text[slice(*spot.masked)]
    assert len(hidden.split()) == 2
    assert "-----" not in hidden
    assert _rules("-----BEGIN " + "PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----") == []
    assert _rules("-----BEGIN " + "CERTIFICATE-----\nMIIB\n") == []


def test_a_signed_token_must_decode_to_json() -> None:
    token = made_up("signed-token")
    assert _rules(f"Bearer {token}") == ["signed-token"]
    head, _, rest = token.partition(".")
    assert _rules(f"Bearer eyJ{head[3:][::-1]}.{rest}") == []


def test_a_header_with_credentials_is_found() -> None:
    assert _rules("Authorization: Basic " + "YWRtaW46aHVudGVyMnNlY3JldA==") == ["authorization-header"]
    assert _rules("Authorization: Bearer $API_TOKEN") == []
    assert _rules('-H "Authorization: Bearer ${API_TOKEN}"') == []
    assert _rules("Authorization: Bearer <token>") == []


@pytest.mark.parametrize("seed", range(12))
def test_numbers_of_cards_accounts_and_persons_are_found_and_with_another_digit_are_not(seed: int) -> None:
    for rule in ("payment-card", "bank-account", "national-id"):
        text = f"For her: {made_up(rule, seed)}."
        assert _rules(text) == [rule]
        place = max(place for place, character in enumerate(text) if character.isdigit())
        other = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        if "SSN" not in text:  # which have no check digit
            assert _rules(other) == []


@pytest.mark.parametrize(
    "text",
    [
        "In the sandbox 4242 4242 4242 4242, 4000 0000 0000 0002 and 5555-5555-5555-4444, card any date",
        "order 4539578763621486, parcel 45395787636214861234",
        "trace 4539 5787 6362 1486 0",
        "id=4539-5787-6362-1486-99",
        "978-0-306-40615-7 and 9780306406157",
        "call +1 202-555-0147 or +44 20 7946 0123",
        "SSN is what the form calls it; ticket 2025-11-0093, 078-05-1120 is the one of the leaflet",
        "version 123.456.789-01",
        "commit 12345678901234567890",
        "a serial 123-45-6789 of a printer",
        "BSN: 123456789, PESEL 12345678901",
        "DE89 3704 0044 0532 0130 00 and GB82 WEST 1234 5698 7654 32 are the examples",
        "ABCDEF12G34H567I",
        "2026-03-05T10:14:03.123456Z",
    ],
)
def test_numbers_of_other_things_are_left_alone(text: str) -> None:
    assert _rules(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("National Insurance: " + "JG 10 37 59 A", "a National Insurance number (UK)"),
        ("n° de sécu : " + "2 55 08 14 168 025 38", "a social security number (France)"),
        ("codice fiscale " + "MRTMTT91D08" + "F205J", "a tax code (Italy)"),
        ("NIE: X" + "1234567L", "an identity number (Spain)"),
        ("BSN " + "1112223" + "33", "a citizen service number (Netherlands)"),
        ("personnummer " + "811228-" + "9874", "a personal identity number (Sweden)"),
        ("PESEL " + "440514" + "01359", "a PESEL number (Poland)"),
    ],
)
def test_numbers_that_states_publish_as_examples_of_their_rules_are_sound(text: str, words: str) -> None:
    assert [spot.words for spot in secrets(text)] == [words]


def test_a_place_is_told_once() -> None:
    text = "API_TOKEN=" + made_up("github-token")
    assert _rules(text) == ["github-token"]
    assert _rules("DATABASE_PASSWORD=" + made_up("password-in-address")) == ["password-in-address"]


def test_characters_whose_small_letters_are_two_do_not_move_a_place() -> None:
    text = "İİİİ password: " + _W
    (spot,) = secrets(text)
    assert spot.masked is not None
    assert text[slice(*spot.masked)] == _W


@pytest.mark.parametrize(
    "piece",
    [
        "a", "A", "0", "4", "-", "_", ".", "/", " ", "\n", "=", "+", "İ", "密码", "eyJ", "eyJa.", "://a:",
        "a://b:c@", "sk-", "token",
        "token=", "token: ", "password is ", "password of a ", "password (", "4111 1111 ", "4111111111111111 ",
        "123-45-6789 ", "ssn 123-45-6789 ", "DE89 3704 ", "AKIA", "-----BEGIN A PRIVATE KEY-----\n", "curl -u ",
        "--token ",
        "authorization: bearer ", "M.", "dni 12345678", "123.456.789-", "PuTTY-User-Key-File-2: a\n", "0f", "' \"",
    ],
)  # fmt: skip
def test_a_hostile_line_of_a_hundred_thousand_characters_takes_no_long_time(piece: str) -> None:
    began = time.thread_time()
    for _ in secrets(piece * (100_000 // len(piece))):
        pass
    assert time.thread_time() - began < 2.0
