"""Figures, a file per kind, and how they are drawn.

They import statistics.
"""
