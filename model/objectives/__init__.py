"""What a spec names as an objective: the loss of a batch, and what is told of a split.

They import architectures and all below.
"""
