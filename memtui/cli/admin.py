"""`memtui admin`: a PostgreSQL database is prepared for memories, and who may use them. It shows what it would do.

`memtui admin accept` is about this machine's copy, once the server was set back.
"""

import argparse

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.core.paths import SERVER, resolve_place
from memtui.core.unicode import to_one_line
from memtui.memory import load_postgres

_ACTIONS = ("init", "tenant", "grant", "revoke", "rotate", "accept")
_TENANT = "main"


def add_admin_options(parser: Parser) -> None:
    """Declare the arguments of `admin`."""
    parser.add_value("action", "ACTION", "init, tenant, grant, revoke, rotate or accept", choices=_ACTIONS)
    parser.add_value("address", "ADDRESS", "postgres://OWNER@HOST/DATABASE, and ?store= with accept")
    parser.add_value("name", "NAME", "the tenant; else the role", nargs="?")
    parser.add_value("--tenant", "NAME", "with grant: whose memories (main)")
    parser.add_value("--store", "NAME", "with grant: in this store only")
    parser.add_value("--may", "RIGHTS", "with grant: of read,write,redact (read,write)")
    parser.add_value("--agent", "NAME", "with grant: the only name that it signs with")
    parser.add_flag("--bring-back", "with accept: put lost notes back, as new changes")
    parser.add_flag("--sql", "print the statements")
    parser.add_flag("--yes", "do it; else it is only shown")


def run_admin(options: Options, given: argparse.Namespace) -> int:
    """Run `admin`. Raises `Failure` where it cannot be done."""
    if not given.address.startswith(SERVER):
        raise UsageError("memtui admin: give an address, such as postgres://OWNER@HOST/DATABASE. Nothing was done.")
    if given.action not in ("init", "accept") and not given.name:
        raise UsageError(f"memtui admin {given.action}: name a {'tenant' if given.action == 'tenant' else 'role'}.")
    if given.yes:
        context.require_writable(options, "Nothing was done")
    load_postgres()  # says so where the driver is not installed
    if given.action == "accept":
        from memtui.cli.accept import run_accept  # noqa: PLC0415 - an extra

        return run_accept(options, given)
    from memtui.postgres import admin, dsn  # noqa: PLC0415 - an extra

    server = admin.Admin(dsn.parse_address(resolve_place(given.address)))
    password = ""
    try:
        match given.action:
            case "init":
                steps = server.plan_init(given.name or _TENANT)
            case "tenant":
                steps = server.plan_tenant(given.name)
            case "grant":
                may = tuple((given.may or "read,write").split(","))
                if not set(may) <= set(admin.RIGHTS) or "read" not in may:
                    raise UsageError("memtui admin grant: --may is read, and write and redact as well where wanted.")
                tenant = given.tenant or _TENANT
                steps = server.plan_grant(admin.Grant(given.name, tenant, given.store, may, given.agent))
            case "revoke":
                steps = server.plan_revoke(given.name)
            case _:
                steps, password = server.plan_rotation(given.name)
        for step in steps:
            output.print_message(f"{'Done' if given.yes else 'Would do'}: {to_one_line(step.words)}")
            if given.sql and not step.is_secret:
                output.print_line(server.format(step))
        if given.yes:
            server.run(steps)
    finally:
        server.close()
    if not steps:
        output.print_message("Nothing to do.")
    elif not given.yes:
        output.print_message("Nothing was done. To do it: --yes")
    elif password:
        output.print_line(password)
    return ExitCode.OK


ADMIN_VERB = Verb("admin", add_admin_options, run_admin)
