"""Words behind sub-words: their classes, roles, neighbours, chunks."""
