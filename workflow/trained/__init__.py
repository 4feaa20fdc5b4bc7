"""A trained model in use: from the name of a run to what its model says of a line of text.

It imports all but commands.
"""
