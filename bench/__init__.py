"""Figures about the project, as ratios within one run: machines differ, and the same one differs from day to day."""
