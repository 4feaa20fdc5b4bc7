"""Attention mechanisms: each turns scores into weights, in a file of its own.

They import only each other.
"""
