"""What stands around a job and changes no number: what is tried before it, its states and
store, checksums, locks, forks, a watchdog, and how failures are said.

It imports all of `model`, and nothing else of `workflow` but where the project is. Neither
Snakemake nor pandas is needed to import it: a lent machine has neither.
"""
