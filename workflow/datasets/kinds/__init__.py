"""What datasets of a kind have in common: labelled text, parallel text, captioned images, bytes.

They import grammars, encoded, fetched and io.
"""
