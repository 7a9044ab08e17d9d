"""A port of this machine, for what other programs of it ask for over HTTP."""

import socket

from memtui.cli.output import ExitCode, Failure, format_os_error
from memtui.cli.parsing import make_count_parser

HOST = "127.0.0.1"
parse_port = make_count_parser("port from 0 to 65535", most=65_535)


def bind_port(port: int, any_port: str) -> socket.socket:
    """A socket that listens at a port of 127.0.0.1.

    Args:
        port: 0 for any free one.
        any_port: The option that asks for any free one.

    Raises:
        Failure: The port cannot be used.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen()  # whoever reads where it is may come at once
    except OSError as error:
        bound.close()
        raise Failure(
            ExitCode.CONFLICT,
            f"Port {port} cannot be used: {format_os_error(error)}. Nothing was started. For any free port: {any_port}",
        ) from error
    return bound
