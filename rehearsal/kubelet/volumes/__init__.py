"""Volumes: what they contain and how it is written; buckets mounted by Cloud Storage FUSE."""
