"""`memtui serve --api`: folders and other places as memory stores, for programs that speak the hosted stores' API."""

import argparse
import contextlib
import ipaddress
import os
import socket
import tempfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, UsageError, format_os_error
from memtui.cli.ports import HOST, bind_local_socket, bind_port
from memtui.cli.private_files import read_private_file, require_outside
from memtui.core.paths import HOSTED, NO_FOLDER, SERVER, SQLITE, format_path
from memtui.fs.state import get_state_home, make_private_directory

if TYPE_CHECKING:
    from memtui.core.settings import Settings
    from memtui.serve.access import Client

_MOST_KEY_BYTES = 1_048_576
_NEW_AGENT = "api"
"""The actor of the token in a file that is made."""


def serve_stores_api(options: Options, arguments: argparse.Namespace) -> int:
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError("memtui serve --api needs two more packages: pip install 'memtui[serve]'")
    _validate_access(arguments)
    root = context.resolve_existing_folder(arguments.stores) if arguments.stores is not None else None
    folders = _resolve_folders(options, arguments, root)
    places = [root] if root is not None else []
    places += folders.values()
    context.report_setting_problems(context.load_config(options, places[0]), options)
    try:
        from memtui.serve import ServerLimits  # noqa: PLC0415 - start-up: only for a server
        from memtui.serve.catalog import StoreOptions  # noqa: PLC0415 - start-up: only for a server
        from memtui.serve.logs import ServerLog  # noqa: PLC0415 - start-up: only for a server
        from memtui.serve.run import ServeOptions, serve_stores  # noqa: PLC0415 - start-up: an extra
    except ImportError as error:  # they are there, but too old, or not whole
        raise UsageError(
            f"memtui serve cannot use the packages that are installed ({error}). Nothing was started. "
            "Install them again: pip install 'memtui[serve]'"
        ) from error
    clients = _load_clients(arguments.tokens, places)
    certificate, key = _load_tls(arguments, places)
    write_log = _open_log(arguments.log, places)
    state = None if options.state is None else os.path.realpath(os.path.expanduser(options.state))
    bound = _bind(arguments, places)
    try:
        confined = _confine([*places, *(state or os.fspath(get_state_home()),)], arguments.log)
        url = _format_url(bound, arguments)
        if options.json:
            output.print_json_line({"schema": output.SCHEMA, "url": url})
        else:
            output.print_line(url)
        output.flush()
        if not options.quiet:
            output.print_message(f"{_describe_stores(root, folders, arguments.tokens)} {confined} To end: Ctrl+C")
        serving = ServeOptions(
            stores=StoreOptions(
                root=root,
                folders=folders,
                state=state,
                read_only=options.read_only,
                load_settings=_make_settings_loader(options),
            ),
            clients=clients,
            limits=ServerLimits(rate=arguments.rate, burst=max(4 * int(arguments.rate), 1)),
            hosts=_list_hosts(bound, arguments),
            certificate=certificate,
            key=key,
        )
        try:
            serve_stores(bound, serving, ServerLog(write_log))
        except OSError as error:  # of the files for TLS
            raise Failure(
                ExitCode.REFUSED, f"The certificate or its key cannot be used: {error.strerror or error}."
            ) from error
    finally:
        bound.close()
        if arguments.socket is not None:
            with contextlib.suppress(OSError):
                os.unlink(os.path.expanduser(arguments.socket))
    return ExitCode.OK


def _validate_access(arguments: argparse.Namespace) -> None:
    """Raise `Failure` for options that contradict, or that would let tokens pass through a network in clear."""
    if arguments.tokens is None:
        raise UsageError(
            "memtui serve --api: each request bears a token. Nothing was started. "
            "Name a file with tokens, which is created if it is missing: --tokens FILE"
        )
    if arguments.socket is not None and (arguments.port or arguments.bind != HOST or arguments.tls_cert is not None):
        raise UsageError("memtui serve --api: --socket does not go with --port, --bind and --tls-cert.")
    if (arguments.tls_cert is None) is not (arguments.tls_key is None):
        raise UsageError("memtui serve --api: --tls-cert and --tls-key go together.")
    try:
        address = ipaddress.ip_address(arguments.bind)
    except ValueError:
        raise UsageError(f"memtui serve --api: {arguments.bind!r} is not an IP address.") from None
    if not address.is_loopback and arguments.tls_cert is None:
        raise UsageError(
            "memtui serve --api: tokens would pass through the network in clear. Nothing was started. Use TLS: "
            "--tls-cert FILE --tls-key FILE; or a proxy on this machine, in front of 127.0.0.1 or --socket PATH"
        )
    if address.is_unspecified and not arguments.allow_host:
        raise UsageError("memtui serve --api: name the host that clients ask for: --allow-host NAME")


def _resolve_folders(options: Options, arguments: argparse.Namespace, root: str | None) -> dict[str, str]:
    """The folders and other places that are named one by one, by their names."""
    given = list(arguments.folders)
    if not given and (root is None or options.directory is not None):
        found = [context.resolve_folder(options)]
    else:
        found = [context.resolve_existing_folder(each) for each in given]
    folders: dict[str, str] = {}
    for folder in found:
        name = _name_store(folder)
        if folders.setdefault(name, folder) != folder:
            raise UsageError(f"memtui serve --api: two stores have the name {name}. Rights are given by that name.")
    inner = [each for each in folders.values() if root is not None and f"{each}/".startswith(f"{root.rstrip('/')}/")]
    if inner:
        raise UsageError(f"memtui serve --api: {format_path(inner[0])} is inside the directory of --stores already.")
    return folders


def _name_store(place: str) -> str:
    """The name by which rights to a place are given: of a folder or a SQLite file its own, of a server the store's."""
    if place.startswith(SQLITE):
        return os.path.splitext(os.path.basename(place))[0]
    if place.startswith(SERVER):
        from memtui.postgres.dsn import parse_address  # noqa: PLC0415 - start-up: only for a server

        return parse_address(place).store
    return place.removeprefix(HOSTED) if place.startswith(HOSTED) else os.path.basename(place) or "root"


def _load_clients(given: str, places: Iterable[str]) -> "tuple[Client, ...]":
    from memtui.serve import access  # noqa: PLC0415 - start-up: only for a server

    path = _require_outside_all(given, places)
    data = read_private_file(path, access.MOST_FILE_BYTES + 1, lambda: access.make_access_file(_NEW_AGENT))
    try:
        if len(data) > access.MOST_FILE_BYTES:
            raise access.AccessFileError("it is too large")
        return access.parse_access_file(data)
    except access.AccessFileError as error:
        raise UsageError(
            f"memtui serve: {format_path(path)} holds no valid tokens: {error}. Nothing was started."
        ) from (error)


def _load_tls(arguments: argparse.Namespace, places: Iterable[str]) -> tuple[str | None, str | None]:
    """The files for TLS. Raises `Failure` for a key that others can read."""
    if arguments.tls_cert is None:
        return None, None
    key = _require_outside_all(arguments.tls_key, places)
    read_private_file(key, _MOST_KEY_BYTES)
    return os.path.expanduser(arguments.tls_cert), key


def _require_outside_all(given: str, places: Iterable[str]) -> str:
    path = os.path.expanduser(given)
    for place in places:
        path = path if place.startswith(NO_FOLDER) else require_outside(given, place)
    return path


def _open_log(given: str | None, places: Iterable[str]) -> Callable[[str], object]:
    """What takes the lines of the log: the end of a file, or standard error."""
    if given is None:
        return lambda line: output.write_stderr([f"{line}\n"])
    path = _require_outside_all(given, places)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        fd = os.open(path, flags, 0o600)
    except OSError as error:
        raise Failure(
            ExitCode.OUTPUT, f"{format_path(path)} cannot be written: {format_os_error(error)}. Nothing was started."
        ) from error
    return lambda line: os.write(fd, f"{line}\n".encode())


def _bind(arguments: argparse.Namespace, places: Iterable[str]) -> socket.socket:
    if arguments.socket is not None:
        return bind_local_socket(_require_outside_all(arguments.socket, places))
    return bind_port(arguments.port, "--port 0", arguments.bind)


def _confine(places: Iterable[str], log: str | None) -> str:
    """Give up the right to write elsewhere than to stores, journals and the log; returns that as a sentence."""
    from pathlib import Path  # noqa: PLC0415 - start-up: only for a server

    from memtui.fs.landlock import restrict_writes  # noqa: PLC0415 - start-up: only for a server

    with contextlib.suppress(OSError):
        make_private_directory(Path(list(places)[-1]))
    paths = [os.path.dirname(each.removeprefix(SQLITE)) if each.startswith(SQLITE) else each for each in places]
    writable = [*paths, tempfile.gettempdir(), "/var/tmp"]  # where SQLite has its temporary files
    if log is not None:
        writable.append(os.path.expanduser(log))
    confined = restrict_writes(but=writable, network=True)
    if not confined.version:
        return confined.reason
    return f"The kernel keeps this process from writing elsewhere (Landlock {confined.version})."


def _format_url(bound: socket.socket, arguments: argparse.Namespace) -> str:
    if arguments.socket is not None:
        return f"unix:{os.path.realpath(os.path.expanduser(arguments.socket))}"
    address, port = bound.getsockname()[:2]
    scheme = "https" if arguments.tls_cert is not None else "http"
    name = arguments.allow_host[0] if arguments.allow_host and arguments.tls_cert is not None else address
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}"


def _list_hosts(bound: socket.socket, arguments: argparse.Namespace) -> frozenset[str] | None:
    """The values of `Host` that are answered: the address that was bound, and names that a proxy passes on."""
    if arguments.socket is not None:
        return None
    address, port = bound.getsockname()[:2]
    named = [each.lower() for each in arguments.allow_host or ()]
    own = [f"[{address}]" if ":" in address else address, *(["localhost"] if address in (HOST, "::1") else [])]
    return frozenset([*named, *(f"{each}:{port}" for each in (*own, *named))])


def _describe_stores(root: str | None, folders: dict[str, str], tokens: str) -> str:
    parts = [f"the folders in {format_path(root)}"] if root is not None else []
    parts += [format_path(folder) for folder in folders.values()]
    return f"Serving {' and '.join(parts)} as memory stores, to those who send a token of {format_path(tokens)}."


def _make_settings_loader(options: Options) -> "Callable[[str], Settings]":
    return lambda folder: context.load_config(options, folder).config.memory
