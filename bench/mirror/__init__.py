"""Benchmark of the mirror with targets. Takes half an hour and prints a Markdown table:

    .venv/bin/python -m bench.mirror
    .venv/bin/python -m bench.mirror --only fresh backfill --entries 100000

- fresh: the mirror and `bench.history_stub` in one process with a clock of their own, so half an hour takes a minute.
  Four transfers per second are created, and every call takes 100 ms of that clock
- backfill: `manage.py mirror backfill` of `--entries` transfers in 30 days, and of a hundredth of them
- pages, postgres: `/insight` with four workers for three minutes, while `manage.py mirror run` writes 500 transfers per
  second into a database with `--entries` transfers
- insight: figures of `--entries` transfers on 300 routes, and of a hundredth of them. Queries of pages, and counting
- candidates: transfers that may be the one that a ticket is about, with SQLite and PostgreSQL
"""
