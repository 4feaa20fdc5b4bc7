"""Languages to draw examples from: demo data and synthetic tasks.

They import io.
"""
