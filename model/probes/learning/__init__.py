"""What is learned when: lexical probes along training, their agreement with attention."""
