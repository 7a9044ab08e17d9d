"""What a note of the corpus is made from where a hand cannot write it: numbers, hashes, days, made-up people.

Everything comes from one seeded source, so that the corpus is the same on every machine. Nothing here is anybody's:
telephone numbers are from ranges kept for fiction, hosts are those of RFC 2606, hashes are of nothing.
"""

import base64
import random
import uuid
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

_T = TypeVar("_T")

PEOPLE = (
    "Ada Okafor", "Bram Visser", "Chiara Conti", "Dmitri Sokolov", "Elif Yılmaz", "Farid Haddad", "Greta Lindqvist",
    "Hugo Marchetti", "Ines Duarte", "Jonas Weber", "Kaia Nilsen", "Lucía Fernández", "Mei Tanaka", "Noor Rahman",
    "Oskar Kowalski", "Priya Natarajan", "Quentin Dubois", "Rosa Almeida", "Sven Aaltonen", "Tomáš Novák", "Uma Iyer",
    "Viktor Horvat", "Wren Gallagher", "Xiu Ling", "Yusuf Demir", "Zoë Janssen",
)  # fmt: skip
SERVICES = (
    "billing", "checkout", "ingest", "ledger", "mailer", "notifier", "orders", "pricing", "reports", "scheduler",
    "search", "sessions", "shipping", "sync", "thumbnails", "uploads", "webhooks", "warehouse",
)  # fmt: skip
CITIES = ("Lisbon", "Leipzig", "Turku", "Utrecht", "Kraków", "Bergen", "Valencia", "Graz", "Ghent", "Osaka", "Pune")


class Maker:
    """A source of what looks like chance and is not.

    Args:
        seed: Where it begins.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, values: Sequence[_T]) -> _T:
        """One of these."""
        return self.random.choice(values)

    def some(self, values: Sequence[_T], fewest: int, most: int | None = None) -> list[_T]:
        """Several of these, none twice, in an order of their own."""
        return self.random.sample(list(values), min(len(values), self.random.randint(fewest, most or fewest)))

    def day(self) -> date:
        """A day of 2025 or 2026."""
        return date(2025, 1, 6) + timedelta(days=self.random.randrange(660))

    def time(self) -> str:
        """A time of day with seconds."""
        return f"{self.random.randrange(24):02d}:{self.random.randrange(60):02d}:{self.random.randrange(60):02d}"

    def stamp(self) -> str:
        """A moment in UTC."""
        return f"{self.day().isoformat()}T{self.time()}Z"

    def hexadecimal(self, digits: int) -> str:
        """That many hexadecimal digits."""
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"

    def commit(self) -> str:
        """A commit, short or whole."""
        return self.hexadecimal(self.one((7, 8, 10, 40)))

    def uuid(self) -> str:
        """A random UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def base64(self, size: int) -> str:
        """That many random bytes in base64."""
        return base64.b64encode(self.random.randbytes(size)).decode()

    def integrity(self) -> str:
        """A hash as a lock file of npm has it."""
        return f"sha512-{self.base64(64)}"

    def number(self, digits: int) -> str:
        """That many decimal digits, the first of which is no zero."""
        return str(self.random.randrange(10 ** (digits - 1), 10**digits))

    def version(self) -> str:
        """A version of three numbers."""
        return f"{self.random.randrange(12)}.{self.random.randrange(40)}.{self.random.randrange(20)}"

    def address(self) -> str:
        """An address within a private network."""
        return f"10.{self.random.randrange(256)}.{self.random.randrange(256)}.{self.random.randrange(1, 255)}"

    def telephone(self) -> str:
        """A number out of ranges that are kept for fiction."""
        last = self.random.randrange(100)
        return self.one(
            (
                f"+1 202-555-01{last:02d}",
                f"(415) 555-01{last:02d}",
                f"+44 20 7946 0{last + 100:03d}",
                f"020 7946 0{last + 800:03d}",
                f"+61 2 5550 {last:04d}",
                f"+49 30 23125 {last + 100:03d}",
                f"+33 1 99 00 {last:02d} {99 - last:02d}",
            )
        )

    def isbn(self) -> str:
        """An ISBN of thirteen digits whose last one is right."""
        digits = "978" + self.number(9)
        weighed = sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(digits))
        whole = digits + str(-weighed % 10)
        return self.one((whole, f"{whole[:3]}-{whole[3]}-{whole[4:8]}-{whole[8:12]}-{whole[12]}"))

    def ms(self) -> str:
        """A duration."""
        return f"{self.random.randrange(2, 4000)} ms"
