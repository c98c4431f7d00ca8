"""Components: each wires one noun of the platform from decisions that `settings` has taken."""
