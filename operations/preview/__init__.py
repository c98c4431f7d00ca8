"""Offline previews, their comparison with another revision, and the report on a pull request."""
