"""A Pulumi provider for package `gcp` that speaks to Google's REST APIs, wherever they are served.

It stands where a real `pulumi-resource-gcp` would (a Terraform provider behind Pulumi's bridge) and decides as that one
does: which fields replace, what is read back, which calls are made and in which order. It knows no program.
"""
