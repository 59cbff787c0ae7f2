"""Figures of the adapter against their budgets, on a real control plane and a real Prometheus."""
