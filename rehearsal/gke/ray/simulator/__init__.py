"""Ray, simulated: the heads of a cluster's Ray clusters answer Ray's Jobs API, and their jobs run as long as the image table says.

kwok simulates Ray's pods; this simulates the programs inside them. KubeRay asks each head's dashboard about its jobs, so each simulated
head's address is given to the sandbox, and Ray's REST API (docs.ray.io, "Ray Jobs REST API") listens there. The submitter
pods that KubeRay makes for a RayJob submit as their command line says, and end with their job.
Nothing computes, and the autoscaler in a head's pod changes nothing.
"""
