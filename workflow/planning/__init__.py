"""From a configuration to runs, targets, cost and identities.

It imports definitions and datasets.
"""
