"""Values as the server takes them and gives them back, and a statement that fails."""

import contextlib

import psycopg
import pytest

from memtui.postgres.dsn import parse_address
from memtui.postgres.prepared import (
    BYTEA,
    BYTEAS,
    INT8,
    INT8S,
    PreparedCall,
    decode_int,
    encode_array,
    encode_int,
)


def test_values_come_back_as_they_were_sent_whether_there_is_a_plan_or_not(place: str) -> None:
    with contextlib.closing(psycopg.connect(parse_address(place).dsn, autocommit=True)) as connection:
        call = PreparedCall(connection, "SELECT u, $2, $3 FROM unnest($1) AS u", (BYTEAS, INT8, BYTEA))
        for items in ([b"a", None, b"", bytes(range(256))], [b"b"], [], [None], [b"x" * 100_000] * 3):
            rows = call.run((encode_array(items), encode_int(-(2**63)), None))
            assert [row[0] for row in rows] == items
            assert {(decode_int(number), none) for _, number, none in rows} <= {(-(2**63), None)}
        numbers = PreparedCall(connection, "SELECT * FROM unnest($1)", (INT8S,))
        for some in ([1, -1, 2**40], []):
            assert [decode_int(row[0]) for row in numbers.run((encode_array(map(encode_int, some), INT8),))] == some


def test_a_statement_that_fails_says_why_and_the_next_one_does_not(place: str) -> None:
    with contextlib.closing(psycopg.connect(parse_address(place).dsn, autocommit=True)) as connection:
        call = PreparedCall(connection, "SELECT 1 / $1", (INT8,))
        for _ in range(3):
            with pytest.raises(psycopg.errors.DivisionByZero):
                call.run((encode_int(0),))
            assert [decode_int(row[0]) for row in call.run((encode_int(1),))] == [1]
        with pytest.raises(psycopg.errors.UndefinedTable):
            PreparedCall(connection, "SELECT $1 FROM nowhere", (INT8,)).run((encode_int(0),))
