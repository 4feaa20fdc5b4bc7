"""A program for each rule, and for what `make` does beside.

They import everything; nothing imports them.
"""
