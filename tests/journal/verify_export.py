"""Verify an exported journal without memtui and without its database: `python verify_export.py FILE`."""

import base64
import hashlib
import json
import sys


def insist(holds, words):
    if not holds:
        sys.exit(f"NOT INTACT: {words}")


def verify(path):
    with open(path, encoding="utf-8") as file:
        header, *rows = [json.loads(line) for line in file]
    insist((header["memtui"], header["schema"]) == ("journal", 1), "this is no export of a journal")
    events, versions = ([row for row in rows if key in row] for key in ("seq", "sha256"))
    insist(rows == [*events, *versions, rows[-1]], "lines were moved or put in")
    insist(rows[-1].get("end"), "the end was cut off")
    insist((rows[-1]["events"], rows[-1]["versions"]) == (len(events), len(versions)), "lines are missing")
    head, named, texts, redacted = bytes.fromhex(header["start"]), set(), [], set()
    for number, row in enumerate(events, 1):
        body, head = json.loads(row["body"]), hashlib.sha256(head + row["body"].encode()).digest()
        insist((row["seq"], body["seq"], row["hash"]) == (number, number, head.hex()), f"the chain breaks at {number}")
        sides = [body.get("viewed"), *(side for change in body.get("changes", []) for side in change[1:])]
        named |= {side[1] for side in sides if side and side[1]}
        redacted |= set(body.get("redacted", []))
        texts += [(body.get(key), row.get(key)) for key in ("answer", "arguments")]
    insist(rows[-1]["head"] == head.hex(), "the head is another one")
    if header["texts"]:
        insist(sorted(row["sha256"] for row in versions) == sorted(named), "a version is missing")
        for row in versions:
            texts.append((row["sha256"], base64.b64decode(row["base64"]) if "base64" in row else row.get("text")))
        for expected, text in texts:
            data = text.encode() if isinstance(text, str) else text
            found = hashlib.sha256(data).hexdigest() if data is not None else expected in redacted and expected
            insist(found == expected or (expected is None and data is None), f"the text {expected} is another")
    sys.stdout.write(f"{len(events)} events, {len(versions)} versions, all intact. Head: {head.hex()}\n")


try:
    verify(sys.argv[1])
except (ValueError, LookupError, TypeError, AttributeError) as problem:
    insist(False, repr(problem))
