"""Google's side: endpoints, HTTP with retries, long-running operations, and locks on what they change."""
