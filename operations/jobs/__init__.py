"""Following jobs after `up`: their timeline, why they wait, what their logs report, and whether they met expectations."""
