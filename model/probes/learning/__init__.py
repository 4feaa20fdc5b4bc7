"""What is learned when: lexical probes along training, how attention agrees with them, IBM Model 1."""
