"""Whether a device computes what a CPU does, and what its training waits for.

It imports every other room, and is imported by `model.bundle` alone.
"""
