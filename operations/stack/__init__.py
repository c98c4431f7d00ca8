"""`make up` and `make down`: the engine, recovery after interrupted runs, and what blocks a deletion."""
