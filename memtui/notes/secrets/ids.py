"""Numbers that states give to people: by their check digits, and by the words around them.

Where a shape alone is weak, as nine digits are, a word that names it must be near.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtui.notes.outline import numeric
from memtui.notes.secrets import citizens
from memtui.notes.spots import Spot

_AROUND = 80
"""Characters before a number among which the word that names it is looked for."""
_HEAD = 12
"""Characters of a number that may stand before its first digits in a row."""
_NOT_IN_WORD = r"(?<![\w./+=-])"
_NOT_ON = r"(?![\w-]|[.,/]\d)"


@dataclass(frozen=True, slots=True)
class _Id:
    """One kind of number.

    Attributes:
        words: What it is, for a person.
        hints: One of these is before it, in lower case, at the beginning of a word; with none, its shape is enough.
        pattern: How it is written.
        is_sound: Whether its check digits are right; it is given what was found, without blanks and signs.
        outlines: What one of is in its numeric outline; only where there are no hints.
    """

    words: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_sound: Callable[[str], bool]
    outlines: tuple[bytes, ...] = ()


def _id(words: str, hints: str, pattern: str, is_sound: Callable[[str], bool]) -> _Id:
    """A kind that a word must name; the words are parted by `|`."""
    return _Id(words, tuple(hints.split("|")), re.compile(_NOT_IN_WORD + pattern + _NOT_ON), is_sound)


_IDS = (
    _id("a Social Security number (US)", "ssn|social security", r"\d{3}(?P<by>[ -]?)\d{2}(?P=by)\d{4}",
        citizens.united_states),
    _id("a taxpayer number (US)", "itin|taxpayer", r"9\d{2}(?P<by>[ -]?)\d{2}(?P=by)\d{4}",
        citizens.united_states_taxpayer),
    _id("a Social Insurance number (Canada)", "sin:|sin number|social insurance|assurance sociale",
        r"\d{3}(?P<by>[ -]?)\d{3}(?P=by)\d{3}", citizens.canada),
    _id("a National Insurance number (UK)", "nino:|nino |national insurance|ni number",
        r"(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", citizens.united_kingdom),
    _id("an NHS number (UK)", "nhs", r"\d{3}(?P<by>[ -]?)\d{3}(?P=by)\d{4}", citizens.health_service),
    _id("a PPS number (Ireland)", "pps|ppsn", r"\d{7} ?[A-Wa-w][A-IWa-iw]?", citizens.ireland),
    _id("a tax number (Germany)", "steuer|idnr|tax id", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", citizens.germany),
    _id("a social security number (Germany)", "sozialversicherung|rentenversicherung|svnr|sv-nummer|rvnr",
        r"\d{2} ?\d{6} ?[A-Z] ?\d{3}", citizens.german_insurance),
    _id("a social security number (Austria)", "sozialversicherung|svnr|sv-nummer", r"\d{4} ?\d{6}", citizens.austria),
    _Id("an AHV number (Switzerland)", (), re.compile(r"756(?<![\w./+=-]756)\.\d{4}\.\d{4}\.\d{2}" + _NOT_ON),
        citizens.switzerland, (b"000.0000.0000.00",)),
    _id("a social security number (France)", "sécu|secu:|n° secu|nir:|nir |insee",
        r"[1-478] ?\d{2} ?\d{2} ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}", citizens.france),
    _id("a national register number (Belgium)", "rijksregister|registre national|niss|insz|national register",
        r"\d{2}[.]?\d{2}[.]?\d{2}-?\d{3}[.-]?\d{2}", citizens.belgium),
    _id("a citizen service number (Netherlands)", "bsn|burgerservice|sofinummer|sofi-nummer",
        r"(?:\d{4}[ .]?\d{2}[ .]?\d{3}|\d{3}[ .]?\d{3}[ .]?\d{3})", citizens.netherlands),
    _Id("a tax code (Italy)", (),
        re.compile(r"[A-Za-z](?<![\w./+=-].)[A-Za-z]{5}\d{2}[A-EHLMPR-Ta-ehlmpr-t]\d{2}[A-Za-z]\d{3}[A-Za-z]"
                   + _NOT_ON),
        citizens.italy, (b"00A00A000A", b"00x00x000x")),
    _id("an identity number (Spain)", "dni|nif:|nif |nie:|nie |documento", r"(?:\d{8}|[XYZxyz]-?\d{7})[ -]?[A-Za-z]",
        citizens.spain),
    _id("a tax number (Portugal)", "nif:|nif |contribuinte", r"[1-35-9]\d{2} ?\d{3} ?\d{3}", citizens.portugal),
    _id("a personal identity number (Sweden)", "personnummer|person-nr|personnr|personal identity",
        r"(?:19|20)?\d{6}[-+]?\d{4}", citizens.sweden),
    _id("a birth number (Norway)", "fødselsnummer|fodselsnummer|personnummer|fnr", r"\d{6} ?\d{5}", citizens.norway),
    _id("a CPR number (Denmark)", "cpr", r"\d{6}-?\d{4}", citizens.denmark),
    _id("a personal identity code (Finland)", "hetu|henkilötunnus|henkilotunnus|personbeteckning",
        r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]", citizens.finland),
    _id("a personal code (Estonia, Lithuania)", "isikukood|asmens kod", r"[1-6]\d{10}", citizens.baltic),
    _id("a PESEL number (Poland)", "pesel", r"\d{11}", citizens.poland),
    _id("a CNP number (Romania)", "cnp", r"[1-8]\d{12}", citizens.romania),
    _id("an OIB number (Croatia)", "oib", r"\d{11}", citizens.croatia),
    _id("an AMKA number (Greece)", "amka|αμκα|α.μ.κ.α", r"\d{11}", citizens.greece),
    _id("an identity number (Turkey)", "kimlik|tckn|t.c. no|tc no", r"[1-9]\d{10}", citizens.turkey),
    _id("an identity number (Israel)", "teudat|תעודת זהות|israeli id", r"\d{9}", citizens.israel),
    _id("an identity number (South Africa)", "south africa|sa id|rsa id", r"\d{6} ?\d{4} ?\d{3}",
        citizens.south_africa),
    _Id("a CPF number (Brazil)", (), re.compile(r"\d(?<![\w./+=-].)\d{2}\.\d{3}\.\d{3}-\d{2}" + _NOT_ON),
        citizens.brazil, (b"000.000.000-00",)),
    _id("a CPF number (Brazil)", "cpf", r"\d{11}", citizens.brazil),
    _id("a CUIT number (Argentina)", "cuit|cuil", r"\d{2}-?\d{8}-?\d", citizens.argentina),
    _id("a RUT number (Chile)", "rut|run:", r"\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]", citizens.chile),
    _Id("a CURP code (Mexico)", (),
        re.compile(r"[A-Z](?<![\w./+=-].)[AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z0-9]\d" + _NOT_ON),
        citizens.mexico, (b"000000AAAAAA",)),
    _id("an Aadhaar number (India)", "aadhaar|aadhar|uidai|आधार", r"[2-9]\d{3}(?P<by>[ -]?)\d{4}(?P=by)\d{4}",
        citizens.india),
    _Id("a resident identity number (China)", (), re.compile(r"[1-8](?<![\w./+=-].)\d{16}[\dXx]" + _NOT_ON),
        citizens.china, (b"0" * 17,)),
    _id("a resident registration number (Korea)", "주민|rrn|resident registration", r"\d{6}-?[1-8]\d{6}",
        citizens.korea),
    _id("a My Number (Japan)", "マイナンバー|個人番号|my number", r"\d{4}(?P<by>[ -]?)\d{4}(?P=by)\d{4}",
        citizens.japan),
    _id("an identity number (Singapore)", "nric|fin:|fin |fin no", r"[STFGstfg]\d{7}[A-Za-z]", citizens.singapore),
)  # fmt: skip
_SIGNS = str.maketrans("", "", " -+.")
_FIRST = re.compile(r"[^\W\d_]{2,}")
_BY_FIRST: dict[str, list[tuple[str, int]]] = {}
"""The hints, and whose they are, by the two letters that they begin with."""
for _number, _kind in enumerate(_IDS):
    for _hint in _kind.hints:
        _BY_FIRST.setdefault(_hint[:2], []).append((_hint, _number))
_ALONE = tuple((outline, number) for number, kind in enumerate(_IDS) for outline in kind.outlines)


def ids(text: str, lowered: str, words: str, spans: list[tuple[int, int]]) -> Iterator[Spot]:
    """National numbers in a text.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
        words: Its long words.
        spans: Its long numbers, from and to.
    """
    numbers = _named(_near_digits(lowered, spans)) if spans else set()
    rest = numeric(words)
    if b"00" in rest:
        numbers.update(number for outline, number in _ALONE if outline in rest)
    taken: set[int] = set()
    for number in sorted(numbers):
        kind = _IDS[number]
        for found in kind.pattern.finditer(text):
            written = found.group().translate(_SIGNS)
            if found.start() in taken or citizens.is_example(written) or not kind.is_sound(written):
                continue
            if kind.hints and not _is_named(lowered, found.start(), kind.hints):
                continue
            taken.add(found.start())
            yield Spot("secret", "national-id", *found.span(), kind.words, found.span())


def _near_digits(lowered: str, spans: list[tuple[int, int]]) -> str:
    """What stands before and at long numbers; of most notes next to nothing."""
    parts, until = [], 0
    for start, end in spans:
        parts.append(lowered[max(until, start - _AROUND - _HEAD) : end])
        until = end
    return "".join(parts)


def _named(near: str) -> set[int]:
    """The kinds that are named in what stands before numbers."""
    firsts = {word[:2] for word in _FIRST.findall(near)}
    return {number for first in firsts for hint, number in _BY_FIRST.get(first, ()) if hint in near}


def _is_named(lowered: str, at: int, hints: tuple[str, ...]) -> bool:
    before = lowered[max(0, at - _AROUND) : at]
    return any(re.search(rf"(?<![a-z]){re.escape(hint)}", before) for hint in hints)
