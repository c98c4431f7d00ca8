"""What `make` runs around the program: standing the local stack up, telling what happened, taking it down."""
