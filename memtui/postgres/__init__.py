"""Memories on a PostgreSQL server, shared by many machines: `postgres://HOST/DATABASE?store=NAME`."""
