"""Simulation of incidents with targets, on a clock of its own. Prints a Markdown table:

    .venv/bin/python -m bench.incidents
    .venv/bin/python -m bench.incidents --only quiet --weeks 2 --seeds 8

- found: minutes until an outage opens an incident, whether it is one, and whether it names what is affected. Also with
  shares that vary by hour
- quiet: openings in weeks of 200 routes without an outage, with failures that are independent, whose share varies by
  hour, or with a bot each day. Rates are mixed, and owners whose transfer fails retry it
- retries: openings by one owner of each route who retries for a day
- down: incidents that open while the mirror reads nothing for two hours, and in the hour after
- cost: processor time of a minute over 300 routes
"""
