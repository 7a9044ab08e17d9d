"""SHA-256 of short texts without OpenSSL, which takes longer to load than a hook may spend on anything.

A hook hashes a few names and one note, and an agent waits for it: 2.6 ms of 45 were OpenSSL's. Where it is loaded, as
in every process that opens a journal, it hashes all.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_SHORT = 100_000
"""Bytes above which OpenSSL is worth loading: it hashes several times as fast."""
_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
"""CPython's own module; another Python may have none."""


def hash_bytes(data: bytes) -> str:
    """SHA-256 of some bytes, in hexadecimal."""
    digest: str = _find_sha256(len(data))(data).hexdigest()
    return digest


def _find_sha256(size: int) -> Callable[[bytes], Any]:
    if size <= _SHORT and "hashlib" not in sys.modules:
        try:
            own: Callable[[bytes], Any] = import_module(_OWN).sha256
        except ImportError:
            pass
        else:
            return own
    import hashlib  # noqa: PLC0415 - start-up: opens OpenSSL

    return hashlib.sha256
