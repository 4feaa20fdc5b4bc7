"""What a paper's files may say, and what they say.

It imports no other room.
"""
