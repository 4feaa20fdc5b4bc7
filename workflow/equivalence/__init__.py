"""Whether two versions of the code behind a run compute the same. It imports planning."""
