"""What a person sees in the terminal while Snakemake runs, and when it has ended.

Programs import it; it imports reporting and planning.
"""
