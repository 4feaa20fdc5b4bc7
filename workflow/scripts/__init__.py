"""A program for each rule, and for what `make` does beside.

They import everything; nothing imports them.
"""

import sys

from workflow.forking import hand_over, say_interrupted

sys.excepthook = say_interrupted
hand_over()
