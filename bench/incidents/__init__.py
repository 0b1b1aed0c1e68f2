"""Simulation of incidents with targets, on a clock of its own. Takes two minutes and prints a Markdown table:

    .venv/bin/python -m bench.incidents
    .venv/bin/python -m bench.incidents --only quiet --weeks 2 --seeds 8

- quiet: weeks of 200 routes without an incident. Rates are mixed, and owners whose transfer fails retry it
- found: delay until a route is found of which 40% fail, and until the incident closes after its recovery
- provider: incidents that are open at most while a provider fails on all its routes
- down: incidents that open while the mirror reads nothing for two hours, and in the hour after
- cost: processor time of a minute over 300 routes
"""
