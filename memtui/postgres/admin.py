"""Preparing a database for memories, and saying who may use them. Every step can be shown before it is taken.

Needs a role that may create roles and own the database. Agents get roles of their own, which may call the functions of
the schema and nothing else (`schema/*.sql`).
"""

import secrets
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from memtui.core.errors import StateUnusable
from memtui.postgres.dsn import Address
from memtui.postgres.server import SCHEMA, translate_errors

OWNER, USER = "memtui_owner", "memtui_user"
RIGHTS = ("read", "write", "redact")
_MIGRATING = 1835363701
"""The advisory lock under which the schema is changed."""
_PASSWORD_BYTES = 24


class Step(NamedTuple):
    """A statement, in words what it makes, and the role that runs it where that is another one."""

    words: str
    statement: sql.SQL | sql.Composed
    role: str | None = None
    is_secret: bool = False


class Grant(NamedTuple):
    """What a role may do.

    Attributes:
        store: The store; `None` for all of the tenant's, and to make others.
        agent: The only name with which it may sign; `None` for any actor.
    """

    role: str
    tenant: str
    store: str | None
    may: tuple[str, ...]
    agent: str | None


class Admin:
    """A connection of somebody who may prepare a database. Raises `StateUnusable` where there is none."""

    def __init__(self, address: Address) -> None:
        with translate_errors():
            self._connection: psycopg.Connection[Any] = psycopg.connect(address.dsn, connect_timeout=5)

    def close(self) -> None:
        self._connection.close()

    def plan_init(self, tenant: str) -> list[Step]:
        """What a database lacks to hold memories, with a tenant that the role of this connection may use."""
        steps = [
            Step(words, sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
            for role, words in ((OWNER, "a role that owns the tables"), (USER, "a role for all who use memories"))
            if not self._ask("SELECT 1 FROM pg_roles WHERE rolname = %s", role)
        ]
        if not self._ask("SELECT 1 FROM pg_namespace WHERE nspname = 'memtui'"):
            steps += [
                Step(
                    "the owner's membership, to act for it",
                    sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(OWNER)),
                ),
                Step(
                    "the schema memtui",
                    sql.SQL("CREATE SCHEMA memtui AUTHORIZATION {}").format(sql.Identifier(OWNER)),
                ),
                Step(
                    "a table of the schema's numbers",
                    sql.SQL("CREATE TABLE memtui.migrations (version integer PRIMARY KEY, at timestamptz NOT NULL)"),
                    role=OWNER,
                ),
            ]
            there = 0
        else:
            there = self._ask("SELECT coalesce(max(version), 0) FROM memtui.migrations")[0][0]
        for version in range(there + 1, SCHEMA + 1):
            script = files("memtui.postgres").joinpath("schema", f"{version:03}.sql").read_text("utf-8")
            note = sql.SQL("INSERT INTO memtui.migrations VALUES ({}, now())").format(version)
            steps += [
                Step(f"schema {version}", sql.SQL(script), role=OWNER),
                Step(f"its number, {version}", note, role=OWNER),
            ]
        user = self._ask("SELECT session_user")[0][0]
        grant = Grant(str(user), tenant, None, RIGHTS, None)
        is_new = there == 0
        granted = "SELECT 1 FROM memtui.grants WHERE role = %s AND store IS NULL"
        if is_new or not self._ask(granted, grant.role):
            steps += [*self.plan_tenant(tenant, is_new=is_new), *self.plan_grant(grant, is_new=is_new)]
        return steps

    def plan_tenant(self, name: str, *, is_new: bool = False) -> list[Step]:
        """A tenant, whose memories no role of another one reaches."""
        if not is_new and self._ask("SELECT 1 FROM memtui.tenants WHERE name = %s", name):
            return []
        insert = sql.SQL("INSERT INTO memtui.tenants (name) VALUES ({})").format(name)
        return [Step(f"the tenant {name}", insert, role=OWNER)]

    def plan_grant(self, grant: Grant, *, is_new: bool = False) -> list[Step]:
        """What a role may do from now on; the role is made where there is none, without a password.

        Raises:
            StateUnusable: There is no such tenant, or the role belongs to another one.
        """
        role = sql.Identifier(grant.role)
        steps = []
        if not self._ask("SELECT 1 FROM pg_roles WHERE rolname = %s", grant.role):
            steps.append(Step(f"the role {grant.role}", sql.SQL("CREATE ROLE {} LOGIN").format(role)))
        if not is_new:
            if not self._ask("SELECT 1 FROM memtui.tenants WHERE name = %s", grant.tenant):
                raise StateUnusable(f"There is no tenant {grant.tenant}. Make it with: memtui admin tenant")
            others = self._ask(
                "SELECT t.name FROM memtui.grants AS g JOIN memtui.tenants AS t ON t.id = g.tenant "
                "WHERE g.role = %s AND t.name <> %s",
                grant.role,
                grant.tenant,
            )
            if others:
                raise StateUnusable(f"The role {grant.role} belongs to the tenant {others[0][0]}. Choose another role.")
        where = f"in the store {grant.store}" if grant.store else f"in all stores of {grant.tenant}"
        signs = f", signing as the agent {grant.agent}" if grant.agent else ""
        insert = sql.SQL(
            "INSERT INTO memtui.grants SELECT {}, id, {}, {}, {} FROM memtui.tenants WHERE name = {} "
            "ON CONFLICT (role, store) DO UPDATE SET may = excluded.may, agent = excluded.agent"
        ).format(grant.role, grant.store, list(grant.may), grant.agent, grant.tenant)
        return [
            *steps,
            Step(f"the functions, for {grant.role}", sql.SQL("GRANT {} TO {}").format(sql.Identifier(USER), role)),
            Step(f"{grant.role} may {', '.join(grant.may)} {where}{signs}", insert, role=OWNER),
        ]

    def plan_revoke(self, role: str) -> list[Step]:
        """A role may do nothing any more."""
        name = sql.Identifier(role)
        delete = sql.SQL("DELETE FROM memtui.grants WHERE role = {}").format(role)
        return [
            Step(f"{role} may do nothing any more", delete, role=OWNER),
            Step(f"nor call a function, {role}", sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(USER), name)),
        ]

    def plan_rotation(self, role: str) -> tuple[list[Step], str]:
        """A new password for a role; it is returned, and not among the steps: the server gets its hash only."""
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        with translate_errors():
            hashed = self._connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        change = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), hashed.decode())
        return [Step(f"a new password for {role}", change, is_secret=True)], password

    def format(self, step: Step) -> str:
        """A statement as it will be run, in one line where it is short."""
        return step.statement.as_string(self._connection)

    def run(self, steps: Sequence[Step]) -> None:
        """Take all steps, or none where one fails. Raises `StateUnusable`."""
        with translate_errors(), self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
            for step in steps:
                if step.role is not None:
                    self._connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(step.role)))
                self._connection.execute(step.statement)
                if step.role is not None:
                    self._connection.execute("RESET ROLE")

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with translate_errors():
            try:
                return self._connection.execute(statement, values).fetchall()
            finally:
                self._connection.rollback()
