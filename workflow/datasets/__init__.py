"""A file per dataset, which its recipe names.

They import their kinds and all below.
"""
