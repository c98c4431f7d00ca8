"""What a user may write in a stack file, as strict types."""
