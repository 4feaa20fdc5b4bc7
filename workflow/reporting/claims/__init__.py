"""Claims, judged and set in Markdown.

They import statistics.
"""
