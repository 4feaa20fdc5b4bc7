"""A file per dataset that is generated alone: nobody has it to download."""
