"""What follows from valid settings: slices, pools, flavors, queues and jobs."""
