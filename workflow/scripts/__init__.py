"""A program for each rule, and for what `make` does beside.

They import everything; nothing imports them.
"""

from workflow.forking import hand_over

hand_over()
