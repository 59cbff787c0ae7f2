"""One module for each wire: Prometheus, the cluster's objects, its reviews."""
