"""What is measured on a trained model: `measure` says what an evaluator is given and returns.

They import all of `model`; nothing there imports them.
"""
