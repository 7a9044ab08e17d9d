"""How an event's canonical bytes are kept: as they are, or deflated against what most events say. Pure.

The chain is over the canonical bytes, so how they are kept is no matter of proof. Half of an event is words that every
event has; a dictionary that both sides know spares them. Hashes in hexadecimal deflate to more than their bytes, so
they stand behind the deflated rest as they are. It takes about 9 µs to keep and 3 µs to read an event.
"""

import re
import zlib
from binascii import hexlify, unhexlify

_DEFLATED, _APART = b"\x01", b"\x02"
"""The first byte of a body that is deflated whole, as journals of schema 4 have it, and of one whose hashes are apart;
canonical bytes begin with `{`. A second dictionary would be 3."""
_HASH = re.compile(b'"([0-9a-f]{64})"')
_PLACE = b"\0"
"""What stands for a hash with its quotation marks; canonical bytes have no control characters."""
_HASH_BYTES = 32
_DICTIONARY = (
    b'"new_path":"/memories/"is_error":true,"no_change":true,"note":"Write""Edit""Bash: mv, found before it was'
    b'"moved":[["undoes":["redacted":["aliases":["viewed":["file","'
    b'"arguments":"directory",null,0,493,"link",["other"'
    b'"command":"claimed"undo""redo""restore""redact""imported""search"'
    b'{"actor":["memtui"]["outside"]["person","user"]["agent","Claude Code","claude-opus-4-5","claude-sonnet-4-5","'
    b',"added":1,"answer":"0123456789abcdef","at_us":17,"call_id":"toolu_01","changes":[["MEMORY.md",null,["notes/.md",'
    b'["file","fedcba9876543210",1024,420,17000]]],["file",384,17000]]],'
    b'"command":"found","command":"deleted","command":"renamed","command":"created","command":"modified",'
    b'"command":"view","command":"delete","command":"rename","command":"insert","command":"str_replace","command":"create",'
    b'"duration_us":1234,"path":"/memories/MEMORY.md","removed":1,"result":"refused","result":"error","result":"no_change",'
    b'"schema":1,"seq":.md","removed":1,"result":"ok","schema":1,"seq":1'
)
_SMALLEST, _LARGEST = 128, 65_536
"""Bytes of a body that is deflated: what is smaller gains nothing, what is larger is read in parts by nobody."""
_WINDOW = -12
"""Raw deflate over 4 KB: the dictionary and what is near."""
_NOTED = b'"noted":'
"""What an index of the database looks for in the bytes as they are kept."""
_new_deflater = zlib.compressobj(6, zlib.DEFLATED, _WINDOW, 5, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY).copy


def pack_body(body: bytes) -> bytes:
    """The bytes that are kept for a body."""
    if not _SMALLEST <= len(body) <= _LARGEST or _NOTED in body or _PLACE in body:
        return body
    parts = _HASH.split(body)
    deflater = _new_deflater()
    rest = deflater.compress(_PLACE.join(parts[::2]))
    packed = b"".join((_APART, rest, deflater.flush(), unhexlify(b"".join(parts[1::2]))))
    return packed if len(packed) < len(body) else body


def unpack_body(kept: bytes) -> bytes:
    """The body that bytes were kept for; the bytes themselves where they are no body that was packed."""
    form = kept[:1]
    if form not in (_DEFLATED, _APART):
        return kept
    inflater = zlib.decompressobj(_WINDOW, _DICTIONARY)
    try:
        body = inflater.decompress(kept[1:], _LARGEST)
    except zlib.error:
        return kept
    if not inflater.eof or body[:1] != b"{" or _NOTED in body:
        return kept  # not ours
    hashes = inflater.unused_data
    if hashes and form == _APART and not len(hashes) % _HASH_BYTES:
        named = hexlify(hashes, b"\n", _HASH_BYTES).split(b"\n")
        try:
            body = body.replace(b"%", b"%%").replace(_PLACE, b'"%b"') % tuple(named)
        except TypeError:
            return kept  # more hashes than places, or fewer
    elif hashes or _PLACE in body:
        return kept
    return body if len(body) <= _LARGEST else kept
