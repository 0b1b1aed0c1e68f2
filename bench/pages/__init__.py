"""Benchmark of the pages with targets. Takes some minutes and writes `bench/RESULTS.md`:

    .venv/bin/python -m bench.pages             like `make bench`, without the live pages
    .venv/bin/python -m bench.pages --live      with the live pages (`bench.live`)
    .venv/bin/python -m bench.pages --quick     short runs of everything, writes nothing

Processes on loopback: the dashboard (gunicorn, one worker, static files collected) with default settings and another
that calls the service each time, a stub service (`bench.stub_service`), clients (`bench.load`), the reference loop
(`bench.reference`) and, with Node, a page of Next.js (`bench.peer.server`). The states of a page:

- unseen: the service is called, and answers with rows that were never served before
- renewed: the service is called, and answers with rows that came before
- cached: default settings, and the service isn't called

The loop runs before and after each run of a case, because the machine's speed varies, and each figure is also a ratio
to the loop's around it. CPU time is the server's, user and system, all threads. Requests within a round differ, so no
two clients share a response, except for cached pages.
"""
