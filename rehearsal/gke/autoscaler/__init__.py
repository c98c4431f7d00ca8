"""The cluster autoscaler: which pools grow or shrink, and how much capacity Google has."""
