"""Which inputs matter to a prediction: gradients, deletion, attention."""
