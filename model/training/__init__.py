"""One run from its first update to its last: loop, optimisation, state, processes, what is tried
before.

It imports objectives and all below.
"""
