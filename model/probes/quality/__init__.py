"""How good a model is: accuracy, likelihood, translations, captions, curves."""
