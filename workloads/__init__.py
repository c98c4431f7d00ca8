"""Jobs: a folder for each kind, what the kinds share, and the programs that run on chips."""
