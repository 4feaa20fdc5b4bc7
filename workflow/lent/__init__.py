"""Runs on a lent machine: which are worth most for its time, what works through them there,
and whether its GPU computes what a CPU does.

`runner`, and what it imports, needs neither Snakemake nor git.
"""
