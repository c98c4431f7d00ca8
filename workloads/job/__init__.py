"""An indexed Job of one slice."""
