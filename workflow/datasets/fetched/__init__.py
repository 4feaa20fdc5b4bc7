"""Raw files from their sources or a mirror, verified.

They import io.
"""
