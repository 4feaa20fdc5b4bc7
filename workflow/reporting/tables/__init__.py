"""Tables as CSV, Markdown and LaTeX.

They import statistics.
"""
