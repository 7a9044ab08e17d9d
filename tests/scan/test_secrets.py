"""Secrets and what only looks like one. Whatever looks real here is put together when the test runs."""

import base64
import json
from collections.abc import Iterator

import pytest

from memtui.scan import decoders, secrets, tokens
from memtui.scan.checksums import (
    check_base58,
    check_crc32,
    check_luhn,
    check_mod_97,
    check_verhoeff,
    encode_base58,
    find_check,
)
from memtui.scan.flags import find_flags
from memtui.scan.samples import make_sample
from memtui.scan.secrets import find_secrets
from memtui.scan.spots import Spot
from tests.bench.limits import at_most

_W = "k7Rz2mQx9bTn4vLs8dHw"
_KEY = "q9Z" + "x7Lm2Rt8Kp4Vw6Ns3Bd1Gh"
_HEX = "9f86d081884c7d659a2feaa0c55ad015"


def _rules(text: str) -> list[str]:
    return [spot.rule for spot in find_secrets(text)]


def test_a_key_in_which_a_word_comes_about_by_chance_is_one() -> None:
    key = make_sample("together-key")
    assert _rules(key[:20] + "fAKe" + key[24:]) == ["together-key"]
    assert _rules(key[:20] + "FAKE" + key[24:]) == []


def test_a_text_is_searched_once_however_many_ask() -> None:
    text = "\n\n".join(make_sample("aws-key", seed) for seed in range(5))
    scan = secrets.SecretScan(text)
    first = iter(scan)
    some = [next(first), next(first)]
    found = list(scan)
    assert [*some, *first] == found == list(find_secrets(text))
    assert all(one is other for one, other in zip(scan, found, strict=True))
    assert not scan.is_cut


def test_very_many_secrets_are_not_all_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_MOST", 3)
    text = "\n\n".join(make_sample("aws-key", seed) for seed in range(5))
    scan = secrets.SecretScan(text)
    assert (len(list(scan)), len(list(scan)), scan.is_cut) == (3, 3, True)


@pytest.mark.parametrize("line", ["ghp_" + "aB3+" * 9, "sk-" + "a1B2c3D4" * 5, "AKIA" + "Q7" * 8])
def test_lines_that_begin_as_keys_do_are_put_together_only_so_often(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def find_tokens(text: str, words: str) -> Iterator[Spot]:
        nonlocal looked_at
        looked_at += len(text)
        return tokens.find_tokens(text, words)

    monkeypatch.setattr(decoders, "find_tokens", find_tokens)
    monkeypatch.setattr(secrets, "_WORK", 20_000)
    scan = secrets.SecretScan("\n".join([line] * 500))
    list(scan)
    assert scan.is_cut
    assert 1_000 < looked_at < 20_000
    few = secrets.SecretScan("\n".join([line] * 5))
    list(few)
    assert not few.is_cut


def test_a_token_with_another_checksum_was_made_up_and_is_not_told() -> None:
    for rule in ("github-token", "npm-token"):
        token = make_sample(rule)
        assert check_crc32(token)
        other = token[:-1] + ("A" if token[-1] != "A" else "B")
        assert _rules(f"token: {token}") == [rule]
        assert _rules(f"token: {other}") == []


def test_the_checksums_are_those_that_are_published() -> None:
    assert check_crc32("ghp_" + "zQWBuTSOoRi4A9spHcVY5ncns" + "DkxkJ" + "0mLq17")  # shown by GitHub, revoked
    assert check_luhn("4242424242424242")
    assert not check_luhn("4242424242424241")
    assert check_verhoeff("2363")
    assert not check_verhoeff("2364")
    assert check_base58(encode_base58(b"\x80" + bytes(range(32))))
    assert not check_base58(encode_base58(b"\x80" + bytes(range(32)))[:-1] + "1")
    assert check_mod_97("GB82WEST12345698765432")
    assert not check_mod_97("GB82WEST12345698765433")


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
        "The token of the build machine: a8Kd02mQx7Zr5Tn" + "W1vBc94LpYsHe6JgU3f",
        "The API key for the mail service is a8Kd02mQx7Zr5Tn" + "W1vBc94LpYsHe6JgU3f.",
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
        '"client_secret": "' + _HEX + _HEX[::-1] + '"',
        "token=" + _HEX,
        "curl -H 'X-Team-ApiKey: 7d4661f9-e710-4826-" + "bf18-6cc9082989e3'",
        "client_secret: TbQmZeLr" + "WvKxNpGsYhUcFjD",
        "team_TOKEN ?= '" + _KEY + "'",
        "weatherToken = 'Q7ZK2RMX9TBL" + "4VSDH8WNP3GJ6FYC5A1E'",
        "<teamToken>\n    " + _KEY + "\n</teamToken>",
        "the access token " + _KEY,
        "weather_key = " + _KEY,
        "password: r]7Kd{qe'4t" + "(Vm2",
        '{"name": "APP_TOKEN",\n "value": "' + _KEY + '"}',
        "- name: DB_PASSWORD\n  value: " + _W,
        "<name>db.password</name>\n<value>" + _W + "</value>",
        'client.SetToken("' + _KEY + '")',
        'System.setProperty("TEAM_TOKEN", "' + _KEY + '")',
        'String teamToken = "' + _KEY + '"',
        '$teamToken .= "' + _KEY + '"',
        'team_auth_token: "Bearer ' + _KEY + '"',
        "team_key = a4" + "f7q29xk3m8w5z1b6t0",
        "team SECRET 7b21d0e4-88e9-4a3c-" + "9385-fb045b2b6a5e",
        "teamPRIVATE=5d1f" + _HEX[4:],
        "<secret>{team AQAAABAAA " + _KEY + "}</secret>",
        "CREATE USER app WITH PASSWORD 'tram" + "way7b'",
        "Connect-Server -User ada -Password Tram" + "Way7!x",
        "ALTER USER app IDENTIFIED BY Tram" + "Way7x container=all;",
        'ConvertTo-SecureString "Tram' + 'Way7!x" -AsPlainText -Force',
        "db_pass=Tram" + "Way_7x",
        "[*] Input password                : Tram" + "Way7!x",
        'fbApiKey:            "171e84fd57f430fc59af' + 'a8fad3dbda2a"',
        'variable "corp_api_token" {\n  default = "' + _KEY + '"\n}',
        "curl -X POST https://x.example.com \\\n  -u ada:" + _W,
        "/masterkey:" + _HEX + _HEX[::-1],
        "POSTGRES_PASSWORD=" + _HEX,
        "- Password of the database: `" + _HEX + "`",
        "API_TOKEN=17|" + _W + _W,
        'const mapKey string = "' + _W + _W[:4] + '"',
    ],
)
def test_a_value_behind_the_name_of_a_secret_is_found(text: str) -> None:
    assert _rules(text) == ["password-assignment"]
    spot = next(find_secrets(text))
    assert spot.masked is not None
    value = text[slice(*spot.masked)]
    assert len(value) >= 6
    assert " " not in value


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=abcdef12" + "34567890abcdef",
        "team_token: 'ABCDEFGH" + "IJKLMNOPQRSTUVWX12345678'",
        "team SECRET abcd1234" + "efgh5678ijkl9012",
        "team_key=123456ab" + "cdefghijklmnop=",
        "key: value12345678901234",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "TWILIO_AUTH_TOKEN=01234567" + "89abcdef0123456789abcdef",
    ],
)
def test_a_key_of_sequential_characters_is_a_remark_and_no_secret_to_act_on(text: str) -> None:
    spot = next(find_secrets(text))
    assert _rules(text) == [tokens.SEQUENTIAL_RULE]
    assert not spot.is_certain
    assert secrets.find_new_secrets("", text) == []
    assert find_flags(text, "a.md") == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "token: " + "0" * 32,
        "AKIA" + "Z" * 16,
        "api_key = 'aaaa" + "aaaaaaaaaaaaaaaa'",
        "api_key = 12345678901234567890",
        "sk-ant-your-key-abcdefghijklmnop",
        "token ---------------------",
        "the token abcdefgh",
    ],
)
def test_a_plain_placeholder_is_not_told_at_all(text: str) -> None:
    assert _rules(text) == []


@pytest.mark.parametrize("other", ["%", "^", "#"])
def test_a_sign_that_only_passwords_have_makes_no_key(other: str) -> None:
    value = _KEY[:9] + other + "z" + _KEY[9:]
    assert _rules(f"api_key = '{value}'") == []
    assert _rules(f"client_secret = '{value}'") == ["password-assignment"]


def test_a_key_in_percent_encoding_is_one() -> None:
    assert _rules("https://api.example.com/x?api_key=" + _KEY[:9] + "%2B" + _KEY[9:]) == ["password-assignment"]


@pytest.mark.parametrize(
    "text",
    [
        '<Field name="password" type="password" :rules="rules8" />',
        "password: 'required|min:8',",
        "DB_PASSWORD= FILTER=unit2 npm test",
        "encrypted_key: '" + _KEY + "'",
        "https://USER:APITOKEN@ci.example.com/job",
        "mysql://my-user:my-password@localhost/my-db",
        "DB_PASSWORD=dbpassword",
        "secret: 'deployhooksecret12'",
        "The secret of the page is ImplementationDetails" + "Matter2024",
        "The token for the list is nextPageCursor" + "Value12",
        "the API key for staging is in 1Password",
        "apiKey: 'base64EncodedKey'",
        "export OP_TOKEN=" + _KEY + "...",
        "http://127.1.1.1:80\\@@127.2.2.2:80/",
        'KEY="-----BEGIN ' + 'RSA PRIVATE KEY-----\\nHkVN9…\\n-----END RSA PRIVATE KEY-----"',
        "password: ${DB_PASSWORD}",
        "rootPassword=<Password>\nbindDN1=cn=Directory Manager1",
        "docker run -e ADMIN_PASSWORD=<admin_password> -e DB=db -p 80 oracle/platform:12.2.1.3",
        "ORACLE_PWD=###Default value is generated###",
        "Note that `DB_TSAM_PASSWD` is correctly set",
        "curl -u ACCOUNT_SID:AUTH_TOKEN https://example.com",
        "http://127.1.1.1:80\\@127.2.2.2:80/",
        "[plan](https://docs.example.com/d/1O5G?resourcekey=0-MlCEZ-y_BA3Ee4K4bI_jxw)",
        '<input name="authenticity_token" value="' + _KEY + '">',
        "if user:\n    pass\nelse: pass = config_value2",
        "The role is identified by its name, as in identified by name",
        "video_box.ico-7a388b69018576d24b59" + "331fd60aab0c.png",
        "xoxe.xoxp-1-SlackAppConfiguration" + "AccessTokenHere",
        "Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikpv"
        "aG4gRG9lIiwiaWF0IjoxNzQ2MjM2MDIyfQ.q9Zx7Lm2Rt8Kp4Vw6Ns3Bd1Gh",
        "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEogIBAAKCAQEAtDSH\n...\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN " + "RSA PRIVATE KEY-----\nBIIEogIBAAk15x0ID[...]\n[...]\n-----END RSA PRIVATE KEY-----",
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
        "Figma file key: " + _KEY,
        "APP_PASSWORD=required",
        "APP_PASSWORD=example",
        "APP_PASSWORD_FILE=/run/secrets/app",
        'label("password", "shown above the field")',
        'getenv("API_TOKEN", "not-set-anywhere")',
        "team SITE_KEY " + _KEY,
        "the KEY monitoring-and-alerting-2024",
        "token sha-of-the-commit",
        "cache_key: " + _KEY,
        "the access token getAccessTokenFromEnvironment2",
        "password: getPassword(request.body1)",
        "password: {type: string, minLength: 8}",
        "password: config.get('password1')",
        "token_hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token: 8c1f0ab",
        "api_key_id: 7d4661f9-e710-4826-bf18-6cc9082989e3",
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
        "- Token: qX7mP2vLk9RtZw4YbN8sHd3F*** (in the keyring)",
        "password: xxxxxxxxxx1",
        "password: 2026-03-05",
        "Password reset: 30 minutes",
        "token: 1.2.3-beta4",
        "the token is refreshed every 15 minutes",
        "secret santa: draw on the 12th",
        "api key: ask Mei2",
        "session_token: None",
        "SecretArn: arn:aws:secretsmanager:us-west-2:123456789012:secret:Db" + "Secret-a1b2c3",
        "list-backups --starting-token abCDeFGhiJ" + "KlmnOPqrSTuvwxYZ1aBCdEF",
        "private_key: ed25519.Ed25519PrivateKey",
        "private_key: PKCS7PrivateKeyTypes",
        "password_encryption = scram-sha-256",
        "printf(&quot;Password is correct.&quot;);",
        "apt\tpasswd\t1:4.13+dfsg1-1+deb12u1",
        "passphrase= password= scmVersion=",
        "except OSError:\n    pass\nN10pem_ctx_st4DOLLAR_16E._fields_ = []",
        "self._auth = self._build_auth(auth)",
        "self._password = handler.password",
        "machine example.com\nlogin daniel\npassword qwerty",
        "//r.example.com/:_authToken=${NPM_TOKEN}",
        "sk-ant-a-wrong-key-of-somebody",
        "-----BEGIN " + "PRIVATE KEY-----\nkey omitted for security reasons\n",
        "version.py,sha256=qaN-fw_" + "htIgKUVXoAuAEVgKxQu3tZ9qE2eiKkWIS7LA,160",
        "card table 527D 5282 5281 5290 5293 5294",
        "exp(6458161865649291)",
        "ssn => '123-45-9999'",
    ],
)
def test_references_placeholders_hashes_and_words_are_no_passwords(text: str) -> None:
    assert _rules(text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password: hunter2x,tail_of_secret99 and on", "password: * and on"),
        ("password=hunter2x;Server=a", "password=*"),
        ("password: hunter2x, and on", "password: *, and on"),
        ("password: hunter2x. And on", "password: *. And on"),
        ("(password: hunter2x)", "(password: *)"),
    ],
)
def test_what_may_be_the_rest_of_a_password_is_masked_with_it(text: str, shown: str) -> None:
    (spot,) = find_secrets(text)
    assert spot.masked is not None
    assert text[: spot.masked[0]] + "*" + text[spot.masked[1] :] == shown


def test_a_secret_key_of_aws_is_found_beside_its_id() -> None:
    secret = "wJ4r" + "XUt9nFEMI/K7MDENG+bPxRfiCYz2Qa8LkVe0"[:36]
    assert len(secret) == 40
    text = f"id {make_sample('aws-key')}\nsecret {secret}\n"
    assert sorted(_rules(text)) == ["aws-key", "aws-secret"]
    assert {spot.flag for spot in find_secrets(text)} == {"secret"}
    assert _rules(f"a hash of forty: {secret}") == []


def test_a_private_key_masks_its_whole_block() -> None:
    text = "before\n" + make_sample("private-key") + "\nbehind\n"
    (spot,) = find_secrets(text)
    assert spot.rule == "private-key"
    assert spot.masked is not None
    hidden = text[slice(*spot.masked)]
    assert len(hidden.split()) == 2
    assert "-----" not in hidden
    assert _rules("-----BEGIN " + "PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----") == []
    assert _rules("-----BEGIN " + "CERTIFICATE-----\nMIIB\n") == []


def test_a_private_key_without_its_first_line_is_found() -> None:
    key = "MIIEvQ" + "IBADANBgkqhkiG9w0BAQEFAASC" + _W * 8
    assert _rules(f'String key = "{key}";') == ["private-key"]
    assert _rules(f"-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n") == ["private-key"]


def test_a_signed_token_must_decode_to_json() -> None:
    token = make_sample("signed-token")
    assert _rules(f"Bearer {token}") == ["signed-token"]
    head, _, rest = token.partition(".")
    assert _rules(f"Bearer eyJ{head[3:][::-1]}.{rest}") == []


def test_a_header_with_credentials_is_found() -> None:
    assert _rules("Authorization: Basic " + "YWRtaW46aHVudGVyMnNlY3JldA==") == ["authorization-header"]
    pair = '{"key": "Authorization",\n "value": "Basic ' + "YWRtaW46aHVudGVyMnNlY3JldA==" + '"}'
    assert _rules(pair) == ["authorization-header"]
    assert _rules("Authorization: Bearer $API_TOKEN") == []
    assert _rules('-H "Authorization: Bearer ${API_TOKEN}"') == []
    assert _rules("Authorization: Bearer <token>") == []


@pytest.mark.parametrize("seed", range(12))
def test_numbers_of_cards_accounts_and_persons_are_found_and_with_another_digit_are_not(seed: int) -> None:
    for rule in ("payment-card", "bank-account", "national-id"):
        text = f"For her: {make_sample(rule, seed)}."
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
    assert [spot.words for spot in find_secrets(text)] == [words]


def test_a_place_is_told_once() -> None:
    text = "API_TOKEN=" + make_sample("github-token")
    assert _rules(text) == ["github-token"]
    assert _rules("DATABASE_PASSWORD=" + make_sample("password-in-address")) == ["password-in-address"]


def test_characters_whose_small_letters_are_two_do_not_move_a_place() -> None:
    text = "İİİİ password: " + _W
    (spot,) = find_secrets(text)
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
    with at_most(2):
        assert all(spot.start < spot.end for spot in find_secrets(piece * (100_000 // len(piece))))


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("argentina", "20123456786"), ("austria", "1237010180"),
        ("baltic", "37605030299"), ("belgium", "85073003328"), ("brazil", "12345678909"),
        ("chile", "123456785"), ("china", "11010519491231002X"),
        ("finland", "131052308T"), ("german_insurance", "15070649C103"), ("germany", "86095742719"),
        ("greece", "01013099997"), ("health_service", "9434765919"),
        ("ireland", "1234567T"), ("italy", "MRTMTT91D08F205J"), ("japan", "123456789018"),
        ("korea", "9001011234568"), ("luhn", "193456787"), ("luhn", "123456782"),
        ("mexico", "HEGG560427MVZRRL04"), ("mod_11_10", "69435151530"),
        ("netherlands", "111222333"),
        ("norway", "15076500565"), ("poland", "44051401359"), ("portugal", "123456789"),
        ("romania", "1800101221144"), ("singapore", "S1234567D"), ("south_africa", "8001015009087"),
        ("spain", "12345679S"), ("sweden", "8112289874"), ("switzerland", "7569217076985"),
        ("turkey", "10000000146"), ("verhoeff", "234123412346"),
    ],
)  # fmt: skip
def test_check_digits_are_those_of_the_examples_that_offices_print(name: str, number: str) -> None:
    kind = find_check(name)
    assert kind(number)
    place = max(place for place, character in enumerate(number[:-1]) if character.isdigit())
    others = [f"{number[:place]}{digit}{number[place + 1 :]}" for digit in "0123456789" if digit != number[place]]
    assert not all(kind(other) for other in others)
    assert sum(kind(other) for other in others) <= 1


@pytest.mark.parametrize(
    ("carrier", "head", "tail", "name", "words"),
    [
        ("NHS number {}", "485 777 ", "345", "health_service", "an NHS number (UK)"),
        ("social insurance: {}", "193-456-", "78", "luhn", "a Social Insurance number (Canada)"),
        ("her AHV is {}", "756.3047.5009.", "6", "switzerland", "an AHV number (Switzerland)"),
        (
            "rijksregisternummer {}",
            "93.05.18-223.",
            "6",
            "belgium",
            "a national register number (Belgium)",
        ),
        ("CNP {}", "17605123301", "4", "romania", "a CNP number (Romania)"),
        ("kimlik no {}", "183619241", "", "turkey", "an identity number (Turkey)"),
        (
            "South African ID {}",
            "920220 4720 ",
            "08",
            "south_africa",
            "an identity number (South Africa)",
        ),
        ("she is {}", "3101151985080923", "4", "china", "a resident identity number (China)"),
        ("マイナンバー {}", "8472 1903 55", "3", "japan", "a My Number (Japan)"),
        ("CUIT {}", "27-28033514-", "", "argentina", "a CUIT number (Argentina)"),
        ("RUT {}", "18.406.299-", "", "chile", "a RUT number (Chile)"),
    ],
)
def test_a_number_of_a_person_is_found_with_its_check_digits_and_not_with_others(
    carrier: str, head: str, tail: str, name: str, words: str
) -> None:
    kind = find_check(name)
    found = set()
    for last in (f"{number:0{width}}" for width in (1, 2) for number in range(10**width)):
        written = head + tail + last
        for spot in find_secrets(carrier.format(written)):
            assert spot.words == words
            assert kind(written.translate(str.maketrans("", "", " -.")))
            found.add(written)
    assert found
    assert len(found) < 25


@pytest.mark.parametrize(
    ("text", "rule", "value"),
    [
        ("//npm.example.com/:_authToken={}\n", "registry-token", "7d4661f9-e710-4826-" + "bf18-6cc9082989e3"),
        ("_auth = {}\n", "registry-token", "YXBwOmdSN3hR" + "MnZMOW1Y"),
        ('{{"auths": {{"r.example.com": {{"auth": "{}"}}}}}}', "registry-login", "YXBwOmdSN3hR" + "MnZMOW1Y"),
        ("machine db.example.com login ada password {}\n", "password-assignment", "hunter22" + "xQ"),
        ("machine db.example.com\n  login ada\n  password {}\n", "password-assignment", "hunter22" + "xQ"),
        (
            '{{"kty": "EC", "crv": "P-256", "d": "{}"}}',
            "private-key",
            "q9Zx7Lm2Rt8Kp4Vw6Ns3" + "Bd1GhQq7Tz5Yc0Xw2Ve8Ub4",
        ),
        ("deploy:{}\n", "password-hash", "$2y$10$" + "q9Zx7Lm2Rt8Kp4Vw6Ns3Bd1GhQq7Tz5Yc0Xw2Ve8Ub4Ta6Rs9Pq1M"),
        ("root:{}:19000:0:99999:7:::\n", "password-hash", "$6$" + "Xw2Ve8Ub$" + "q9Zx7Lm2Rt8Kp4Vw6Ns3Bd1GhQq7Tz5Yc0"),
        ("postgres://app:{}@db.example.com/x", "password-in-address", "p@ss" + "w0rdK9"),
        ("the hash is ${}\n", "password-hash", "2a$12$" + "q9Zx7Lm2Rt8Kp4Vw6Ns3Bd1GhQq7Tz5Yc0Xw2Ve8Ub4Ta6Rs9Pq1M"),
        ("`${}`\n", "password-hash", "1$" + "OKgLCmVl$" + "d02jECa4DXn/oXX0R.MoQ/"),
        (
            "https://{}\n",
            "slack-hook",
            "hooks." + "slack.com/workflows/T016M3G1GHZ/A04J3BAF7AA/442660231806210747/" + _W,
        ),
        ("storagekey {} -x\n", "azure-key", _W * 4 + "hGeB3W=="),
        ("  account_key\n      = '{}';\n", "azure-key", _W * 4 + "hGeB3W=="),
        ("Unseal Key 2: {}\n", "vault-token", "0tZn+7QQCxphpHwTm7/dC3LpP5JGIbYl3PK8Sy81R+" + "P2"),
        ("bootstrap-token {}\n", "service-key", "x7k2m9." + "q4w8e1r5t9y3u7i2"),
        ("the storage box: {}\n", "service-key", "3-" + _W * 3 + "7Kd2"),
        ("containers: {}\n", "service-key", "ptr" + "_" + _W + _W[:12] + "="),
        ("payments {}\n", "service-key", "$aact" + "_prod_" + _W * 2),
        ("the flow: {}\n", "service-key", "VF." + "DM." + _HEX[:24] + "." + _W[:16]),
        ("watched with {}\n", "newrelic-key", _HEX + "FFFF" + "NRAL"),
        ("searched with {}\n", "sourcegraph-token", "sgp" + "_" + _HEX[:16].upper() + "_" + _HEX + _HEX[:8]),
        ("paid with {}\n", "stripe-key", "rk" + "_prod_" + _W),
        ("https://x.logic.azure.com/workflows/9?sp=%2Fx&sig={}\n", "azure-signature", _W * 2 + "aB3"),
        ("Authorization: Bearer {}\n", "authorization-header", "17|" + _W * 2),
        ("BUNDLE_GEMS__TEALAKE__IO=ada:{}\n", "registry-login", "1f2e" + "3d4c"),
        ("reports at postgres://app:{}@db7.tealake.io/x\n", "password-in-address", "hunter" + "22"),
    ],
)
def test_what_files_of_programs_hold_is_found(text: str, rule: str, value: str) -> None:
    whole = text.format(value)
    (spot,) = find_secrets(whole)
    assert spot.rule == rule
    assert spot.masked is not None
    assert whole[slice(*spot.masked)] == value


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Basic " + _encode("Aladdin:open sesame"),  # RFC 7617
        "password: " + _encode("1f2d1e2e67df"),  # the documentation of Kubernetes
        "API_KEY=" + _encode("Aladdin:open sesame"),
        "-----BEGIN PRIVATE KEY-----\nthe key of the build machine\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + _encode("abcdefghijklmnopqrstuvwxyz") + "\n-----END PRIVATE KEY-----",
        "postgres://postgres:postgres@localhost:5432/app",
        "DATABASE_URL=mysql://root:root@db/app",
        "the table: 17|" + _HEX + _HEX[:8] + "|",
        "the commit 3-" + _HEX + _HEX,
        "stripe_key = pk_live_" + _W + "7b",
        "api_key: 'pk_test_" + _W + "7b'",
        "SUPABASE_KEY=sb_publishable_" + _W + "_aa",
        "POSTHOG_KEY=phc_" + _W * 2 + "7kb",
    ],
)
def test_what_is_public_or_an_example_or_comes_with_a_program_is_no_secret(text: str) -> None:
    assert _rules(text) == []


def test_the_token_that_is_the_same_on_every_machine_of_a_developer_is_no_secret() -> None:
    head, claims = json.dumps({"alg": "HS256"}), {"iss": "supabase-demo", "role": "service_role", "exp": 1983812996}
    parts = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (head, json.dumps(claims))]
    assert _rules(".".join((*parts, _KEY))) == []


@pytest.mark.parametrize("name", ["token_issued_by", "secret_created_at", "token_last4"])
def test_what_is_known_about_a_token_is_no_token(name: str) -> None:
    assert list(find_secrets(f'"{name}": "5f0c2b7e-91d4-4e7a-8c36-0d1f2a9b7c55"')) == []
    assert list(find_secrets('"token": "5f0c2b7e-91d4-4e7a-8c36-0d1f2a9b7c55"'))
