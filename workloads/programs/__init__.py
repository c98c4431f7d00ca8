"""What runs on the chips."""
