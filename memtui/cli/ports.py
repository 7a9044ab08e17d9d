"""A port or a socket of this machine, for what other programs of it ask for over HTTP."""

import os
import socket
import stat

from memtui.cli.output import ExitCode, Failure, format_os_error
from memtui.cli.parsing import make_count_parser
from memtui.core.paths import format_path

HOST = "127.0.0.1"
parse_port = make_count_parser("port from 0 to 65535", most=65_535)


def bind_port(port: int, any_port: str, address: str = HOST) -> socket.socket:
    """A socket that listens at a port.

    Args:
        port: 0 for any free one.
        any_port: The option that asks for any free one.
        address: Of this machine, as an IP address.

    Raises:
        Failure: The port cannot be used.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((address, port))
        bound.listen()  # whoever reads where it is may come at once
    except OSError as error:
        bound.close()
        raise Failure(
            ExitCode.CONFLICT,
            f"Port {port} cannot be used: {format_os_error(error)}. Nothing was started. For any free port: {any_port}",
        ) from error
    return bound


def bind_local_socket(path: str) -> socket.socket:
    """A Unix socket that only its owner can connect to. Raises `Failure` where something else is."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # there is no moment in which others could connect
    try:
        if stat.S_ISSOCK(_get_mode(path)) and not _is_served(path):
            os.unlink(path)  # its program has died
        bound.bind(path)
        bound.listen()
    except OSError as error:
        bound.close()
        raise Failure(
            ExitCode.CONFLICT,
            f"{format_path(path)} cannot be used as a socket: {format_os_error(error)}. Nothing was started.",
        ) from error
    finally:
        os.umask(before)
    return bound


def _get_mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return 0


def _is_served(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.connect(path)
        except ConnectionRefusedError:
            return False
    return True
