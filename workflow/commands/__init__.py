"""A file for each command of `python -m workflow`; its first sentence is what `--help` says of it.

`add_arguments` has what the command takes, and `main` does it. Of the project only commands import
them.
"""
