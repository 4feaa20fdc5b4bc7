"""The report as one HTML page.

It imports tables, claims and figures.
"""
