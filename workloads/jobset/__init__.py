"""A JobSet: a multislice job."""
