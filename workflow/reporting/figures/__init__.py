"""Figures: one module per kind; each draws the panels that `figures.yaml` lists."""
