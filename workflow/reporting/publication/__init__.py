"""What is published in `docs/reproduction`, and the pages that sum it up.

It imports all of reporting.
"""
