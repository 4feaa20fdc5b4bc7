"""Data files read and written whole: lines, records, archives, checksums, what was left out."""
