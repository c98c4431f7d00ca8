"""What must hold of a stack whatever its stack file says: a Pulumi policy pack, and the same rules over a preview."""
