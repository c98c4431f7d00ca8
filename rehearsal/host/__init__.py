"""What a rehearsal needs of the machine: namespaces, supervision, builds, addresses, certificates. Nothing of Google."""
