"""What a spec names as a model, a file each; those that translate have a room of their own.

They import batches and all below.
"""
