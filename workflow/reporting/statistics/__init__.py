"""Intervals, decisions, verdicts and tolerances.

They import measures.
"""
