"""Checks that take minutes or hours: faults on purpose, random edits, a real Slurm."""
