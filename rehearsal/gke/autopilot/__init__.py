"""Autopilot: pools that come and go with pods, and what its admission refuses."""
