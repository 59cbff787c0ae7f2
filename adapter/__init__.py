"""A custom metrics API server for Kubernetes that answers from Prometheus."""
