"""Faults on purpose: what takes minutes or hours, and CI runs beside the suite."""
