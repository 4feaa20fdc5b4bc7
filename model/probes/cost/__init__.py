"""What a model costs: parameters, speed of training and of decoding."""
