"""What a paper's files, the configuration and an overlay may say, each said once as a type.

Checks of names that refer to others stand beside the type. Of other rooms it imports
`runtime` alone. The JSON Schemas in `workflow/schemas` are made from the types (`python -m workflow
schemas`).
"""
