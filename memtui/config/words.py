"""Values in sentences about the settings."""


def shown(value: object) -> str:
    """A value as it stands in TOML, as well as that can be told."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return str(value)
