"""A RayJob: a job of Ray on slices."""
