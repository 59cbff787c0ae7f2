"""The HTTP surface: values, discovery documents, health, Status errors."""
