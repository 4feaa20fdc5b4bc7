"""What a prediction can depend on: receptive fields, and routing decisions that flip."""
