"""What is kept of a run, whole or not at all: files, checksums, weights, records, provenance.

It imports nothing of `model`.
"""
