"""Pods: the agent, one worker per pod, restart decisions and the status that is reported."""
