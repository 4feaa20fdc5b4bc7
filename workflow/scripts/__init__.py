"""A program for each rule: `python -m workflow.scripts train --help`.

They import everything; of the project only its commands import them.
"""
