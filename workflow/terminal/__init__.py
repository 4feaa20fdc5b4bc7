"""What a person types and sees in the terminal: arguments, progress, and how it ended.

Programs import it; it imports reporting and planning.
"""
