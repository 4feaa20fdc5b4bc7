"""From measures to tables, figures, claims and pages.

From the ground up: `texts`, `cells` and `measures`, `statistics`, `tables` and `claims`, `figures`,
`page`, `explorer`, `publication`.
"""
