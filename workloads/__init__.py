"""What runs on the platform: components over pure manifests."""
