"""Resource hooks: steps around a resource that wait for, or repair, what the engine cannot see."""
