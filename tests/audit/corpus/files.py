"""Files of state, configuration and data that lie beside notes: what is full of long words and is no secret."""

import json
from collections.abc import Iterator

from tests.audit.corpus.maker import CITIES, PEOPLE, SERVICES, Maker

_PACKAGES = (
    "accepts", "body-limit", "chalk-lite", "date-steps", "esm-shim", "fast-glob", "graph-walk", "http-parts",
    "ini-read", "json-ptr", "kind-of", "lru-map", "mime-names", "nano-ids", "once-only", "p-limit", "query-parts",
    "range-set", "semver-lite", "tiny-warn", "url-join", "vary-by", "wrap-text", "yargs-mini", "zod-lite",
)  # fmt: skip
_MODULES = ("checkout/totals", "import/reader", "ledger/post", "mail/send", "search/rank", "sync/merge", "web/session")
_WORDS = ("open", "retry", "late", "paid", "north", "draft", "cold", "batch", "hall-2", "returns", "spring", "beta")


def states(maker: Maker) -> Iterator[tuple[str, str]]:
    """JSON and JSON lines as agents keep their state."""
    for number in range(34):
        service = SERVICES[number % len(SERVICES)]
        match number % 6:
            case 0:
                value: object = {
                    "phase": maker.one(("plan", "build", "review", "done")),
                    "service": service,
                    "commit": maker.commit(),
                    "run": maker.uuid(),
                    "open": maker.some(_WORDS, 2, 5),
                    "updated": maker.stamp(),
                }
            case 1:
                value = {
                    "checks": [
                        {"name": name, "sha256": maker.hexadecimal(64), "ms": maker.random.randrange(4000)}
                        for name in maker.some(_MODULES, 2, 5)
                    ],
                    "etag": f'W/"{maker.hexadecimal(16)}"',
                    "next_token": None,
                    "max_tokens": maker.one((1024, 4096, 8192)),
                }
            case 2:
                value = [
                    {"id": maker.uuid(), "who": maker.one(PEOPLE), "order": maker.number(12), "city": maker.one(CITIES)}
                    for _ in range(maker.random.randint(3, 8))
                ]
            case 3:
                value = {
                    "session": {"id": maker.uuid(), "token_count": maker.random.randrange(90_000), "token": None},
                    "password_required": True,
                    "api_key_env": f"{service.upper()}_API_KEY",
                    "secret_ref": f"vault:secret/data/{service}#token",
                    "cursor": maker.base64(24),
                }
            case 4:
                value = {
                    "type": "FeatureCollection",
                    "features": [
                        {
                            "name": city,
                            "at": [
                                round(maker.random.uniform(-9, 30), 6),
                                round(maker.random.uniform(36, 62), 6),
                            ],
                        }
                        for city in maker.some(CITIES, 3, 6)
                    ],
                }
            case _:
                lines = [
                    json.dumps(
                        {"ts": maker.stamp(), "service": service, "trace": maker.hexadecimal(32), "took": maker.ms()}
                    )
                    for _ in range(maker.random.randint(4, 12))
                ]
                yield f"state/{service}-{number:02d}.jsonl", "\n".join(lines) + "\n"
                continue
        yield f"state/{service}-{number:02d}.json", json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def settings(maker: Maker) -> Iterator[tuple[str, str]]:
    """YAML, TOML, INI and environment files whose secrets are references."""
    for number in range(2 * len(SERVICES)):
        service = SERVICES[(number + number // len(SERVICES)) % len(SERVICES)]
        upper = service.upper()
        port = maker.random.randrange(3000, 9999)
        match number % 6:
            case 0:
                text = (
                    f"service: {service}\nreplicas: {number % 4 + 1}\nimage: registry.example.com/shop/{service}"
                    f"@sha256:{maker.hexadecimal(64)}\nenv:\n  - name: {upper}_TOKEN\n    valueFrom:\n"
                    f"      secretKeyRef: {{name: {service}, key: token}}\n  - name: LOG_LEVEL\n    value: info\n"
                )
                name = f"{service}-deploy.yaml"
            case 1:
                text = (
                    f"# Copy to .env and fill in\nDATABASE_URL=postgres://{service}:${{DB_PASSWORD}}@db:5432/{service}\n"
                    f"{upper}_API_KEY=\n{upper}_SECRET=change-me\nSTRIPE_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx\n"
                    f"ANTHROPIC_API_KEY=sk-ant-...\nGITHUB_TOKEN=<your token>\nPORT={port}\nDEBUG=false\n"
                )
                name = f"{service}.env.example"
            case 2:
                text = (
                    f'[server]\nport = {port}\nhost = "{maker.address()}"\n\n[auth]\ntoken_ttl = "15m"\n'
                    f'password_min_length = 12\nkey_file = "/run/secrets/{service}"\n'
                    f'public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{maker.base64(32)[:43]} {service}"\n'
                )
                name = f"{service}.toml"
            case 3:
                text = (
                    f"name: check {service}\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n"
                    f"      - uses: actions/checkout@{maker.hexadecimal(40)}\n      - run: make test\n        env:\n"
                    f"          TOKEN: ${{{{ secrets.{upper}_TOKEN }}}}\n          PASSWORD: ${{{{ secrets.PW }}}}\n"
                )
                name = f"{service}-check.yml"
            case 4:
                text = (
                    f"[client]\nuser = {service}\npassword = %(db_password)s\nhost = db.example.net\n\n"
                    f"[cache]\nurl = redis://:$REDIS_PASSWORD@cache:6379/{number % 8}\nsecret = env:{upper}_SECRET\n"
                )
                name = f"{service}.ini"
            case _:
                text = (
                    f"import os\n\n\nclass {service.title()}Settings:\n    port = {port}\n"
                    f'    api_key = os.environ["{upper}_API_KEY"]\n    password = getpass.getpass("Password: ")\n'
                    f'    token = config.get("{service}", "token")\n    secret = None\n    passwd_file = "~/.pgpass"\n'
                )
                name = f"{service}_settings.py"
        yield f"config/{name}", text


def locks(maker: Maker) -> Iterator[tuple[str, str]]:
    """Excerpts of lock files, with what somebody wanted to know of them."""
    for number in range(18):
        some = maker.some(_PACKAGES, 3, 6)
        match number % 4:
            case 0:
                body = ",\n".join(
                    f'    "node_modules/{name}": {{\n      "version": "{maker.version()}",\n'
                    f'      "integrity": "{maker.integrity()}"\n    }}'
                    for name in some
                )
                fence = f'```json\n{{\n  "packages": {{\n{body}\n  }}\n}}\n```'
            case 1:
                rows = [
                    f'{{file = "{name}-{maker.version()}-py3-none-any.whl", hash = "sha256:{maker.hexadecimal(64)}"}},'
                    for name in some
                ]
                fence = "```toml\nfiles = [\n    " + "\n    ".join(rows) + "\n]\n```"
            case 2:
                rows = [
                    f'[[package]]\nname = "{name}"\nversion = "{maker.version()}"\nchecksum = "{maker.hexadecimal(64)}"'
                    for name in some
                ]
                fence = "```toml\n" + "\n\n".join(rows) + "\n```"
            case _:
                rows = [f"example.org/{name} v{maker.version()} h1:{maker.base64(32)}" for name in some]
                fence = "```\n" + "\n".join(rows) + "\n```"
        why = maker.one(
            (
                f"`{some[0]}` is pinned because the next one drops Node 18.",
                f"Two versions of `{some[-1]}` are installed; the older one comes with `{some[0]}`.",
                f"The audit names `{some[1]}`; we only use it in tests.",
            )
        )
        yield f"locks/lock-{number:02d}-{some[0]}.md", f"# What is locked, {maker.day()}\n\n{why}\n\n{fence}\n"


def pictures(maker: Maker) -> Iterator[tuple[str, str]]:
    """Notes with a picture in them."""
    for number in range(12):
        head = ("iVBORw0KGgoAAAANSUhEUgAAA", "/9j/4AAQSkZJRgABAQAAAQABAAD", "R0lGODlhAQABAIAAAAAAAP")[number % 3]
        kind = ("png", "jpeg", "gif")[number % 3]
        data = head + maker.base64(maker.random.randrange(120, 900))
        service = SERVICES[number]
        if number % 2:
            boxes = f"![the boxes](data:image/{kind};base64,{data})"
            text = f"# Sketch of {service}\n\n{boxes}\n\nDrawn by {maker.one(PEOPLE)}.\n"
        else:
            text = (
                f"# Icon of {service}\n\n[icon]: data:image/{kind};base64,{data}\n\nUsed in the header: ![icon][icon]\n"
            )
        yield f"pictures/{service}.md", text


def minified(maker: Maker) -> Iterator[tuple[str, str]]:
    """Code without spaces, as agents paste it."""
    for number in range(8):
        names = [f"{letter}{maker.random.randrange(9)}" for letter in "abcdefgh"]
        parts = [
            f"function {name}(e,t){{return e[t]||(e[t]=n({maker.random.randrange(9999)}),t.token=e.key),e}}"
            for name in names
        ]
        body = "!function(){var n=r,o='" + maker.hexadecimal(20) + "';" + "".join(parts) + "}();"
        yield f"snippets/bundle-{number}.md", f"# What {_MODULES[number % 7]} compiles to\n\n```js\n{body}\n```\n"


def logs(maker: Maker) -> Iterator[tuple[str, str]]:
    """Excerpts of logs."""
    for number in range(16):
        service = SERVICES[number]
        rows = []
        for _ in range(maker.random.randint(6, 16)):
            what = maker.one(
                (
                    f"request_id={maker.uuid()} status=200 took={maker.ms()}",
                    f"trace={maker.hexadecimal(32)} span={maker.hexadecimal(16)} user_id={maker.number(9)}",
                    f"token refreshed, expires in 900 s, jti={maker.uuid()}",
                    f"password check failed for user {maker.number(6)} from {maker.address()}",
                    f"order {maker.number(10)} shipped, parcel {maker.number(20)}",
                    f"GET /v1/orders?cursor={maker.base64(12).rstrip('=')}&limit=50",
                    f"cache miss key=user:{maker.number(7)}:cart etag={maker.hexadecimal(32)}",
                )
            )
            rows.append(f"{maker.stamp()} {maker.one(('INFO', 'INFO', 'WARN'))} {service} {what}")
        text = f"What {service} wrote before it stopped:\n\n```\n" + "\n".join(sorted(rows)) + "\n```\n"
        yield f"logs/{service}-{maker.day()}.md", text


def markups(maker: Maker) -> Iterator[tuple[str, str]]:
    """XML and HTML."""
    for number in range(10):
        service = SERVICES[number + 4]
        if number % 2:
            items = "".join(
                f'  <item id="{maker.uuid()}" sku="{maker.number(13)}"><name>{name}</name></item>\n'
                for name in maker.some(_WORDS, 3, 6)
            )
            yield (
                f"data/{service}.xml",
                f'<?xml version="1.0"?>\n<catalogue service="{service}">\n{items}</catalogue>\n',
            )
        else:
            rows = "".join(
                f"<tr><td>{city}</td><td>{maker.random.randrange(9000)}</td></tr>\n"
                for city in maker.some(CITIES, 3, 6)
            )
            yield f"data/{service}.html", f"<h1>{service}</h1>\n<table>\n{rows}</table>\n"
