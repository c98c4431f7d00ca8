"""The RayOperator add-on: KubeRay, the webhook for TPU workers, and simulated Ray clusters."""
