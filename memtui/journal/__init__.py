"""The append-only, hash-chained record of all events, with every version of every text."""
