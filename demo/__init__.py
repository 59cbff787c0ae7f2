"""The walk-through on real parts: an autoscaler takes ray-worker from 1 to 4 replicas and back."""
