"""The nodes of node pools as Google knows them: members, names, labels, taints and capacities."""
