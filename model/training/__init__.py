"""One run from its first update to its last: loop, optimisation, processes.

It imports objectives and all below.
"""
