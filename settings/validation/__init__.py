"""Two stages: whether a stack file can be read as a platform, and whether that platform can work."""
