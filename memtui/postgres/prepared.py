"""A statement that is called again and again, as libpq takes it: psycopg's cursors need four times as long for it."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import errors, generators
from psycopg.pq import ExecStatus

BOOL, BYTEA, INT8, INT4, TEXT, BYTEAS, INT8S = 16, 17, 20, 23, 25, 1001, 1016
"""Numbers of types."""
_NAME_BYTES = 63
_NO_BYTES = b"\xff\xff\xff\xff"


class PreparedCall:
    """A statement of one connection, which has its plan kept there from the second call on.

    Args:
        connection: In autocommit mode. Nothing else may use it meanwhile.
        sql: Its parameters are `$1` and so on. It is also the name of the plan, in its first 63 bytes.
        types: The numbers of their types.
    """

    def __init__(self, connection: psycopg.Connection[Any], sql: str, types: Sequence[int]) -> None:
        self._connection = connection
        self._sql = sql.encode("utf-8")
        self._name = self._sql[:_NAME_BYTES]
        self._types = types
        self._formats = [1] * len(types)
        self._calls = 0

    def run(self, values: Sequence[bytes | None]) -> list[tuple[bytes | None, ...]]:
        """The rows, each value in its binary form; so are the parameters. Raises `psycopg.Error`."""
        libpq = self._connection.pgconn
        self._calls += 1
        if self._calls == 1:
            libpq.send_query_params(self._sql, values, self._types, self._formats, 1)
        else:
            if self._calls == 2:
                libpq.send_prepare(self._name, self._sql, self._types)
                self._wait(ExecStatus.COMMAND_OK)
            libpq.send_query_prepared(self._name, values, self._formats, 1)
        result = self._wait(ExecStatus.TUPLES_OK)
        columns = range(result.nfields)
        return [tuple([result.get_value(row, each) for each in columns]) for row in range(result.ntuples)]

    def _wait(self, expected: ExecStatus) -> Any:
        result = self._connection.wait(generators.execute(self._connection.pgconn))[-1]
        if result.status != expected:
            raise errors.error_from_result(result)
        return result


def encode_int(value: int, size: int = 8) -> bytes:
    """A whole number of some bytes."""
    return value.to_bytes(size, "big", signed=True)


def decode_int(value: bytes | None) -> int | None:
    return None if value is None else int.from_bytes(value, "big", signed=True)


def encode_array(items: Iterable[bytes | None], type_number: int = BYTEA) -> bytes:
    """An array of values of one type, each in its binary form."""
    items = list(items)
    if not items:
        return struct.pack(">iii", 0, 0, type_number)
    parts = [struct.pack(">iiiii", 1, None in items, type_number, len(items), 1)]
    for each in items:
        parts += (_NO_BYTES,) if each is None else (len(each).to_bytes(4, "big"), each)
    return b"".join(parts)
