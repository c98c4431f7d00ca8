"""Node objects of pools, and what is left of them after a deletion."""
