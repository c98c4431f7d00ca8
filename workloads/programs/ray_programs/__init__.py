"""Programs that run under Ray Train: `python -m ray_programs.NAME`, with the folder of this package on PYTHONPATH.

What the slices are like comes in by environment variables, the same ones that a JobSet's pods get (`slices.py`).
"""
