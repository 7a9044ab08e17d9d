"""`memtui serve`: folders for programs that have no terminal: a web browser, and clients of the memory stores' API."""

import argparse
import os
from importlib.util import find_spec

from memtui.cli import context, output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, UsageError
from memtui.cli.parsing import Parser, Verb, make_count_parser, make_number_parser
from memtui.cli.ports import HOST, bind_port, parse_port
from memtui.core.paths import format_path

_parse_viewers = make_count_parser("number from 1 to 16", least=1, most=16)
_parse_rate = make_number_parser("number of requests a second from above 0 to 100000", most=100_000, zero=False)


def add_serve_options(parser: Parser) -> None:
    parser.add_value("folders", "DIR", "memory folders; with --web one", nargs="*")
    parser.add_flag("--web", "the read-only browser, in a web browser")
    parser.add_flag("--api", "the memory stores' API; each DIR or address is a store")
    parser.add_value("--stores", "ROOT", "the same; each folder in ROOT is a store")
    parser.add_value("--tokens", "FILE", "with --api: who may do what; created if missing")
    parser.add_value("--port", "PORT", "a port of 127.0.0.1; default: any free one", type=parse_port, default=0)
    parser.add_value("--socket", "PATH", "with --api: a Unix socket, for your user only")
    parser.add_value("--log", "FILE", "with --api: the log; default: stderr")
    parser.add_value("--tls-cert", "FILE")
    parser.add_value("--tls-key", "FILE")
    parser.add_value("--bind", "ADDRESS", default=HOST)
    parser.add_value("--allow-host", "NAME", action="append")
    parser.add_value("--rate", "N", type=_parse_rate, default=100.0)
    parser.add_value("--max-viewers", "N", type=_parse_viewers, default=4)


def run_serve(options: Options, arguments: argparse.Namespace) -> int:
    is_api = arguments.api or arguments.stores is not None
    if is_api and arguments.web:
        raise UsageError("memtui serve: --web does not go with --api and --stores. Leave one of them out.")
    if is_api:
        from memtui.cli.serve_stores import serve_stores_api  # noqa: PLC0415 - start-up: only for a server

        return serve_stores_api(options, arguments)
    if not arguments.web:
        raise UsageError(
            "memtui serve: what is served has to be named. Nothing was started. "
            "For the browser in a web browser: memtui serve --web DIR. "
            "For programs: memtui serve --api DIR --tokens FILE"
        )
    if len(arguments.folders) > 1:
        raise UsageError("memtui serve --web: one folder is shown. Give one.")
    if find_spec("websockets") is None:
        raise UsageError("memtui serve --web needs one more package: pip install 'memtui[web]'")
    folder = context.resolve_folder(options, arguments.folders[0] if arguments.folders else None)
    context.report_setting_problems(context.load_config(options, folder), options)
    try:
        from memtui.web.gate import Gate  # noqa: PLC0415 - start-up: only for a server
        from memtui.web.server import Limits, ViewerOptions, serve_pages  # noqa: PLC0415 - start-up: an extra
    except ImportError as error:  # there is one, but too old, or not whole
        raise UsageError(
            f"memtui serve cannot use the package websockets that is installed ({error}). Nothing was started. "
            "Install it again: pip install 'memtui[web]'"
        ) from error
    from memtui.fs.landlock import restrict_writes  # noqa: PLC0415 - start-up: only for a server

    bound = bind_port(arguments.port, "--port 0")
    confined = restrict_writes()  # also for each viewer, which this process starts
    gate = Gate(bound.getsockname()[1])
    if options.json:
        output.print_json_line({"schema": output.SCHEMA, "url": gate.address})
    else:
        output.print_line(gate.address)
    output.flush()
    if not options.quiet:
        words = f"Serving {format_path(folder)}, read-only. The address works once, in one web browser."
        output.print_message(f"{words} {confined.sentence} To end: Ctrl+C")
    viewer = ViewerOptions(
        folder=folder,
        state=_make_absolute(options.state),
        config=_make_absolute(options.config),
        no_config=options.no_config,
    )
    serve_pages(bound, gate, viewer, Limits(viewers=arguments.max_viewers))
    return ExitCode.OK


def _make_absolute(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(os.path.expanduser(path))


SERVE_VERB = Verb("serve", add_serve_options, run_serve, keeps_rights=True)
