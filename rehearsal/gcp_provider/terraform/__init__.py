"""How the Terraform provider sees a resource: its types, the rules of its fields, checks, differences and mapping to JSON."""
