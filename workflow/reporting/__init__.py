"""What becomes of measures: tables, verdicts, claims, figures, the report and what is published."""
