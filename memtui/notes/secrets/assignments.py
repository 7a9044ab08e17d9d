"""Passwords and keys that are written behind their names: `password: …`, `API_KEY=…`, `"token": "…"`.

The name says that it is a secret, so what has to be judged is the value: most of them are references, placeholders,
or words of a sentence. A value that could be a hash, a commit or an identifier is none, for these are everywhere.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

from memtui.notes.secrets.checksums import ends_in_its_checksum
from memtui.notes.secrets.clues import places_of
from memtui.notes.secrets.pictures import steps
from memtui.notes.spots import Spot

_PASSWORDS = (
    "password", "passwd", "passphrase", "passwort", "kennwort", "passcode", "pwd", "contraseña", "contrasena", "senha",
    "wachtwoord", "mot de passe", "hasło", "heslo", "lösenord", "salasana", "parola", "şifre", "пароль", "κωδικός",
    "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
)  # fmt: skip
"""Names of what a person has thought of."""
_KEYS = (
    "secret", "token", "api key", "api-key", "api_key", "apikey", "access key", "access-key", "access_key", "accesskey",
    "auth key", "auth_key", "authkey", "private_key", "privatekey", "private key", "signing_key", "signing key",
    "encryption_key", "encryption key", "master_key", "master key", "account_key", "accountkey", "credential",
)  # fmt: skip
"""Names of what a machine has made."""


_STEMS = tuple(
    (
        clue,
        [(stem, stem.index(clue), stem in _PASSWORDS) for stem in (*_PASSWORDS, *_KEYS)
         if stem.isascii() and clue in stem],
    )
    for clue in ("pass", "pw", "key", "secret", "token", "cred", "kennwort", "senha", "contrase", "wachtwoord", "heslo",
                 "parola", "salasana")
)  # fmt: skip
"""Names by the clue that is in each, and where in it."""
_OTHER_STEMS = tuple(stem for stem in _PASSWORDS if not stem.isascii())

_NAME_BEFORE = re.compile(r"[\w.-]{0,60}")
"""What of a name stands before the word in it, read from its end."""
_REST = re.compile(r"[\w-]{0,40}")
_ASSIGNED = re.compile(
    r"[\"'`\]]{0,2}(?:\*\*|__)?"
    r"(?P<of>[ \t]{1,3}(?:\([^()\n]{1,40}\)|(?:for|of|to|on|für|fuer|zum|zur|von|pour|de|del|da|do|di|voor)["
    r" \t][^\n:=\"'`]{1,40}?))?"
    r"(?:\*\*|__)?[ \t]{0,8}"
    r"(?P<how>:=|=>|==?|[::](?:\*\*)?|\bis\b|\bist\b|\bes\b|\best\b|\bè\b|[是は])"
    r"[ \t]{0,8}(?:\*\*)?(?P<quote>[\"'`]?)"
)
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]{0,8}\r?\n")
_BLOCK_LINE = re.compile(r"[ \t]{1,40}(?P<word>[^\s\"'`<>]{1,300})[ \t]{0,8}(?:\r?\n|\Z)")
_MOST_LINES = 20
_FLAG = re.compile(r"[ \t]{1,3}(?P<quote>[\"']?)")
_BARE = re.compile(r"[^\s\"'`<>,;(){}\[\]|\\]{1,300}")
_BEHIND = re.compile(r"&(?:(?:quot|lt|gt|apos|nbsp|#\d{1,5});?|[A-Za-z_.-]{1,40}=)")
"""What ends a value in an address and in HTML."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\dA-Za-z_]+")

_NO_SECRET = frozenset(
    "public hash hashed hashes digest next page cursor count counts max min ttl id ids"  # noqa: SIM905
    " name names file files path paths"
    " url uri type types length len size limit budget policy csrf xsrf ref env field label hint prompt reset strength"
    " rule rules expires expiry expiration lifetime age required enabled disabled usage bucket rate per total used"
    " input"
    " output prompt cached completion estimate estimated tokens tokenizer tokenized header param parameter column"
    " algorithm algo version format prefix suffix regex pattern source manager store vault provider endpoint status"
    " secretsmanager error message invalid missing forgotten forgot change changed confirm confirmation placeholder"
    " help test_id end start begin sep separator bos eos pad unk stop special word break"
    " continuation nextpage sync resume starting arn".split()
)
"""Words in a name that make it another thing than a secret: `token_count`, `password_file`, `next_page_token`."""
_WORDS = frozenset(
    "none null nil true false undefined empty unset required optional string str text"  # noqa: SIM905
    " bytes int integer number bool"
    " boolean object secret secrets password passwort token tokens key keys apikey value values test testing foo bar"
    " baz see ask use same default hidden removed redacted encrypted todo tbd unknown changeme change-me letmein-not"
    " bearer basic vault keychain keyring bitwarden lastpass keepass keepassxc 1password 1pass pass dashlane here there"
    " scram-sha-256 stored yes no n/a na any auto generated rotate rotated via from with the".split()
)
"""Values that are words about a secret."""
_REFERENCE = re.compile(
    r"\\{0,2}[$%@&*~]|['\"]?`|\{|\[|\(|<|\\\\|[A-Za-z_][\w.]*[(\[{]|(?:os|process|self|this|settings|config|cfg|conf|env|environ|args"
    r"|opts"
    r"|options|params|request|req|ctx|context|data|body|user|secrets?|vault|var|local|module|each|import|std|app|ctx"
    r"|input)"
    r"[.:\[?]|(?:op|vault|aws|gcp|sm|ssm|arn|file|env|secret|secrets|projects|keychain|keyring|awskms|sops|ref|enc)[:/]"
    r"|\.{0,2}/|[A-Za-z]:[\\/]|https?:|ssh-|sha\d+|md5|bcrypt|argon2|pbkdf2|scrypt|\{?SSHA|!",
    re.IGNORECASE,
)
"""How a value begins that says where the secret is."""
_HASHLIKE = re.compile(
    r"(?:0x)?[0-9a-f]{6,128}|[0-9A-F]{8,128}"
    r"|\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?"
    r"|\d{1,4}([-/.:]\d{1,4}){1,3}(?:T[\d:.]+Z?)?|v?\d+(?:\.\d+){1,3}(?:[-+.\w]{0,12})?|[\d.,_]+[a-z%]{0,8}"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,6}|[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}\.(?:com|org|net|io|dev|json"
    r"|ya?ml|toml|env|txt|md|py|ts|js)",
    re.IGNORECASE,
)
_PARTED = re.compile(r"[A-Za-z]+(?:[-_./][A-Za-z]+){1,12}[\d]{0,2}|[A-Z][A-Z0-9_]{2,60}")
"""Names in their several fashions: `db-password`, `DB_PASSWORD`."""
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]+){1,8}\d?")
_PICTURE = re.compile(
    r"example|sample|dummy|placeholder|redacted|masked|your|change[_-]?(?:me|this|it)|replace|insert|xxx|\*{3}|\.{3}|…"
    r"|•|fake|todo",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"[\w.:]*(?:PrivateKey|PublicKey|SecretKey|ApiKey|AccessKey|Secret|Token|Credentials?)(?:Types?|Info|Params)?"
)
"""Names of types in code."""
_FEWEST_OF_PASSWORD, _FEWEST_OF_KEY, _LONGEST = 6, 16, 300
_STEPS = 0.6
"""How many of its characters may follow the one before."""
_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]")
_CHECKED = ("ghp_", "gho_", "ghu_", "ghr_", "npm_")
_BITS_OF_KEY = 3.0
"""Bits for each character that the value of a key has at least: that of sixteen random ones is about 3.6."""


def assigned(text: str, lowered: str, clues: frozenset[str]) -> Iterator[Spot]:
    """Secrets that are written behind their names.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
        clues: What of the words that name secrets is in it.
    """
    seen = 0
    starts = sorted(_starts(lowered, clues))
    for start, stem, is_password in starts:
        if start < seen:
            continue
        end = _REST.match(text, start + len(stem)).end()  # type: ignore[union-attr]
        begin = start - _NAME_BEFORE.match(text[max(0, start - 60) : start][::-1]).end()  # type: ignore[union-attr]
        seen = end
        if not _is_name(text[begin:end], stem):
            continue
        found = _ASSIGNED.match(text, end)
        if found is None and text[begin : begin + 2] == "--":
            found = _FLAG.match(text, end)
        if found is None:
            if text[end : end + 1] != ">" or text[begin - 1 : begin] != "<":
                continue
            quote, at, is_prose = "", end + 1, False
        else:
            quote, at = found["quote"], found.end()
            how = found.groupdict().get("how") or "="
            is_prose = not quote and how not in ("=", ":=", "=>", "==")
            if found.groupdict().get("of") and not is_password:
                continue
        until = 0
        if found is not None and not quote and (block := _block(text, at)) is not None:
            value, at, until = block
        else:
            value = _value(text, at, quote)
        if not quote:
            value = _BEHIND.split(value, maxsplit=1)[0]
        if text[begin - 1 : begin] == ":" and text[end : end + 1] == ":":
            continue  # the name of a resource, such as `arn:…:secret:…`
        if _is_secret(value, is_password=is_password, is_prose=is_prose):
            seen = until or at + len(value)
            words = "a password behind its name" if is_password else "a key or a token behind its name"
            yield Spot("secret", "password-assignment", begin, seen, words, (at, seen))


def is_key(value: str) -> bool:
    """Whether a machine has made it for nothing but to be secret, as far as that can be seen."""
    return _is_secret(value, is_password=False, is_prose=False)


def is_unmistakable(value: str) -> bool:
    """Whether nobody would take it for anything but a password, wherever it stands: of three kinds of characters."""
    kinds = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        any(not letter.isalnum() and letter not in "-_./,:'’\"`" for letter in value),
    )
    is_word = re.fullmatch(r"[\w.+-]+@[\w.-]+|\W*[A-Za-z]+\W*\d{0,4}\W*|[^\W_]+(?:[(\[{<=|/].*)", value)
    return (
        8 <= len(value) <= 64
        and value.isascii()
        and (sum(map(str.isdigit, value)) > 1 or (kinds[2] and kinds[3]))
        and not value.startswith("-")
        and not re.match(r"\d+[:.]\d", value)
        and sum(kinds) >= 3
        and not is_word
        and not re.search(r"[(){}\[\]<>|=;`\\]|//|\.\w{2,4}\Z", value)
        and _is_secret(value, is_password=True, is_prose=True)
    )


def _starts(lowered: str, clues: frozenset[str]) -> Iterator[tuple[int, str, bool]]:
    for clue, stems in _STEMS:
        if clue in clues:
            for at in places_of(lowered, clue):
                for stem, before, is_password in stems:
                    if lowered.startswith(stem, at - before) and at >= before:
                        yield at - before, stem, is_password
    if not lowered.isascii():
        for stem in _OTHER_STEMS:
            yield from ((at, stem, True) for at in places_of(lowered, stem))


def _is_name(name: str, stem: str) -> bool:
    """Whether a name names a secret, and not something about one."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return (
        len(words) <= 8 and not any(word in _NO_SECRET for word in words) and not name.casefold().endswith(stem + "s")
    )


def _block(text: str, at: int) -> tuple[str, int, int] | None:
    """What a block of YAML (1.2.2, 8.1) says whose lines are a word each, put together; and from where to where."""
    head = _BLOCK.match(text, at)
    lines: list[re.Match[str]] = []
    end = head.end() if head is not None else at
    while head is not None and len(lines) < _MOST_LINES and (line := _BLOCK_LINE.match(text, end)) is not None:
        lines.append(line)
        end = line.end()
    if not lines:
        return None
    return "".join(line["word"] for line in lines), lines[0].start("word"), lines[-1].end("word")


def _value(text: str, at: int, quote: str) -> str:
    if quote:
        end = text.find(quote, at, at + _LONGEST + 1)
        line = text.find("\n", at, at + _LONGEST + 1)
        return "" if end < 0 or -1 < line < end else text[at:end]
    found = _BARE.match(text, at)
    if found is None or text[found.end() : found.end() + 1] in ("(", "[", "{"):
        return ""  # a call, or an element
    return found.group().rstrip(".:*!?,。、)」")


def _is_secret(value: str, *, is_password: bool, is_prose: bool) -> bool:
    if not (_FEWEST_OF_PASSWORD if is_password else _FEWEST_OF_KEY) <= len(value) <= _LONGEST:
        return False
    if not (_is_thought_of(value) if is_password else _is_random(value)) or " " in value or "\t" in value:
        return False
    if is_prose and is_password and not _is_strong(value):
        return False
    bare = value.rstrip("=")
    if bare.casefold() in _WORDS or _TYPE.fullmatch(value) or _PICTURE.search(value) or steps(value) > _STEPS:
        return False
    if _REFERENCE.match(value) or _PARTED.fullmatch(bare) or _CAMEL.fullmatch(bare) or _HASHLIKE.fullmatch(value):
        return False
    return not value.startswith(_CHECKED) or ends_in_its_checksum(value)  # else it was made up


def _is_thought_of(value: str) -> bool:
    """Whether somebody would take it for a password: of more than one kind of character, and no word or name."""
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:" for letter in value)
    return len(set(value)) >= 4 and letters + digits + others >= 2 and letters


def _is_strong(value: str) -> bool:
    """Whether it is no word of a sentence, such as `Base64-encoded` or `5-minute`."""
    digits = sum(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:'’" for letter in value.strip("()[]\"'"))
    return (
        value.isascii() and (digits >= 1 or others) and not re.fullmatch(r"\d+[-A-Za-z]+|[A-Za-z]+[-/][A-Za-z]+", value)
    )


def _is_random(value: str) -> bool:
    """Whether a machine has made it: many different characters, digits among letters, and no words."""
    if not value.isascii() or not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    if _entropy(value) < _BITS_OF_KEY:
        return False
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    wordy = sum(len(part) for part in parts if part.isalpha() and (part.islower() or part.istitle() or part.isupper()))
    return wordy <= len(value) // 2


def _entropy(value: str) -> float:
    """Bits for each character, after how often each is there (C. E. Shannon, 1948)."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
