"""What is published in `docs/reproduction`, and the README's summary.

It imports all of reporting.
"""
