"""`memtui mcp`: the memory as a server of the Model Context Protocol. Only this package knows `mcp`.

It takes more than a second to load, and it is an extra: only `memtui.cli.mcp` loads this package, and only to serve.
"""
