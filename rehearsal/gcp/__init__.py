"""Google's REST APIs, as far as platforms on GKE use them, with state, operations that take time, and Google's refusals."""
