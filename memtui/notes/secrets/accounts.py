"""Numbers of bank accounts: by the country they begin with, by its length, and by their check digits."""

import re
from collections.abc import Iterator

from memtui.notes.secrets.checksums import mod_97
from memtui.notes.spots import Spot

_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SD": 18,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22,
    "VG": 24, "XK": 20,
}  # fmt: skip
"""Characters of an account number by country (SWIFT, IBAN Registry)."""
_ACCOUNT = re.compile(r"([A-Z](?<![\w/+-].)[A-Z]\d{2})((?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![\w-])")
_BEGINS = b"AA00"
"""How it begins, in a numeric outline."""
_SHOWN = frozenset(
    "GB82WEST12345698765432 GB29NWBK60161331926819 DE89370400440532013000 FR1420041010050500013M02606"  # noqa: SIM905
    " NL91ABNA0417164300 CH9300762011623852957 ES9121000418450200051332 IT60X0542811101000000123456"
    " BE68539007547034 AT611904300234573201 SE4550000000058398257466 PL61109010140000071219812874"
    " PT50000201231234567890154 IE29AIBK93115212345678 DK5000400440116243 NO9386011117947 FI2112345600000785"
    " GB33BUKB20201555555555 DE12500105170648489890 LU280019400644750000".split()
)
"""Numbers that registries and introductions show."""


def accounts(text: str, outline: bytes) -> Iterator[Spot]:
    """International account numbers (ISO 13616) in a text.

    Args:
        text: The text.
        outline: Its numeric outline.
    """
    if _BEGINS not in outline:
        return
    for found in _ACCOUNT.finditer(text):
        number = found.group().replace(" ", "")
        size = _LENGTHS.get(number[:2])
        if size is None or len(number) < size or number[:size] in _SHOWN:
            continue
        end = found.start() + _span(found.group(), size)
        if (len(number) == size or text[end : end + 1] == " ") and mod_97(number[:size]):
            span = (found.start(), end)
            yield Spot("secret", "bank-account", *span, f"the number of a bank account ({number[:2]})", span)


def _span(written: str, size: int) -> int:
    """How many characters of what is written hold that many that are no blanks."""
    for place, character in enumerate(written):
        size -= character != " "
        if size == 0:
            return place + 1
    return len(written)
