"""The engine's side: the gRPC service, and what each of its requests means for a resource."""
