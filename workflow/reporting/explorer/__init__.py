"""The page whose models compute while one types: from trained runs to what it holds.

It imports statistics, commands and what is shared with the report's page.
"""
