"""What a paper's files, the configuration and an overlay may say, each said once as a type.

Checks of names that refer to others stand beside the type. It imports no other room. The JSON
Schemas in `workflow/schemas` are made from the types (`python -m workflow schemas`).
"""
