"""Passwords that a person has made up are told as weak, unless something says that they open more than one's own."""

import random
import string

import pytest

from memtui.audit.registry import list_rules
from memtui.scan.secrets import find_secrets
from memtui.scan.weak_passwords import is_word_with_digits

WEAK = ["next" + "boat", "hunter" + "22", "dev-" + "secret1", "airflow" + "42", "toor" + "99",
        "rabbit_" + "admin7"]  # fmt: skip
STRONG = ["Xk92mQz8" + "1LpV", "xk" + "qzvbnt7", "tram" + "way7b", "k7w3" + "z9h1", "K7#pQ2" + "!vRx",
          "qwrt" + "zpsd42", "Summer" + "2024!", "Welcome" + "2024"]  # fmt: skip


def rules(text: str) -> list[str]:
    return [spot.rule for spot in find_secrets(text)]


@pytest.mark.parametrize("value", WEAK)
def test_a_word_with_a_few_digits_is_a_weak_password_and_warns(value: str) -> None:
    text = f"services:\n  db:\n    environment:\n      APP_PASSWORD={value}\n"
    (spot,) = find_secrets(text)
    assert spot.rule == "weak-password"
    assert spot.masked is not None
    assert text[slice(*spot.masked)] == value
    assert value not in spot.words
    assert list_rules()["weak-password"].severity == "warn"
    assert list_rules()["password-assignment"].severity == "fail"


@pytest.mark.parametrize("value", STRONG)
def test_what_a_generator_made_or_a_policy_asked_for_fails(value: str) -> None:
    assert rules(f'password = "{value}"\n') == ["password-assignment"]


@pytest.mark.parametrize(
    "near",
    [
        "DB_HOST=db7.tealake.io", "# production", "env: prod", "ssh deploy", "db_server: 81.2.69.142",
        "DATABASE_URL=postgres://db7.tealake.io/app", "deploy@web3.tealake.io", "Host: 'db7.tealake.io'",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["{near}\nAPP_PASSWORD={value}\n", "APP_PASSWORD={value}\nuser=app\n\n{near}\n"])
def test_beside_a_host_or_production_even_a_weak_one_fails(near: str, text: str) -> None:
    assert rules(text.format(near=near, value=WEAK[0])) == ["password-assignment"]


@pytest.mark.parametrize(
    "near",
    [
        "DB_HOST=localhost", "DB_HOST=db", "host: 127.0.0.1", "server = 192.168.1.9", "image: postgres:16",
        "DB_URL=postgres://db:5432/app", "# products and producers", "ada@example.com", "host: db.test",
        "See https://docs.tealake.io/start",
    ],
)  # fmt: skip
def test_beside_a_machine_of_ones_own_it_warns(near: str) -> None:
    assert rules(f"{near}\nAPP_PASSWORD={WEAK[0]}\n") == ["weak-password"]


@pytest.mark.parametrize("value", WEAK)
@pytest.mark.parametrize(
    "text",
    ["postgres://app:{}@localhost:5432/app", "redis://:{}@192.168.1.9", "curl -u ada:{} http://127.0.0.1:8080/"],
)
def test_in_an_address_of_a_machine_of_ones_own_it_warns(text: str, value: str) -> None:
    assert rules(text.format(value)) == ["weak-password"]


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:{}@db7.tealake.io/app", "production: postgres://app:{}@localhost:5433/app",
        "curl -u ada:{} ada@db7.tealake.io", "postgres://{0}:{0}@prod-db/app",
    ],
)  # fmt: skip
def test_in_an_address_of_another_machine_or_production_it_fails(text: str) -> None:
    assert rules(text.format(WEAK[0])) in (["password-in-address"], ["password-assignment"])


def test_a_word_in_code_that_makes_it_a_password_is_a_weak_one() -> None:
    assert rules(f"ConvertTo-SecureString '{WEAK[0]}' -AsPlainText -Force") == ["weak-password"]
    assert rules(f"A chat is identified by `{WEAK[0]}`.") == []


def test_a_host_that_stands_far_away_says_nothing_of_a_password() -> None:
    assert rules("host: db7.tealake.io\n" + "\n" * 5 + f"APP_PASSWORD={WEAK[0]}\n") == ["weak-password"]
    assert rules("host: db7.tealake.io" + " " * 900 + f"APP_PASSWORD={WEAK[0]}\n") == ["weak-password"]


@pytest.mark.parametrize(
    ("alphabet", "share"),
    [(string.ascii_letters + string.digits, 0.001), (string.ascii_lowercase + string.digits, 0.01)],
)
def test_what_chance_makes_is_hardly_ever_taken_for_a_word(alphabet: str, share: float) -> None:
    source = random.Random(11)
    made = ["".join(source.choices(alphabet, k=12)) for _ in range(4_000)]
    assert sum(map(is_word_with_digits, made)) <= share * len(made)


def test_letters_alone_by_chance_are_mostly_no_word() -> None:
    source = random.Random(12)
    made = ["".join(source.choices(string.ascii_lowercase, k=10)) for _ in range(2_000)]
    assert sum(map(is_word_with_digits, made)) <= 0.1 * len(made)


def test_a_known_form_and_a_generated_value_win_over_a_weak_one() -> None:
    assert rules(f"password: {WEAK[1]}\nlogin ada / {STRONG[0]}\n") == ["weak-password", "password-assignment"]
