"""Whom the adapters of this folder know, and where they answer."""

GROUP = "/apis/custom.metrics.k8s.io/v1beta2"
USER = {"username": "hpa", "groups": ["system:masters"]}
WORD = "autoscaler"
"""The token of the one user that the cluster knows."""
