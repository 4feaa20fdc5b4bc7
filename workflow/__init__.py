"""From raw data to tables: everything around `model`.

From the ground up: `files`, `errors`, `paths` and `forking`, `datasets`, `definitions`,
`planning`, `reporting`, `scripts`. Each imports only what stands before it here, and of `model`
what it needs.
"""
