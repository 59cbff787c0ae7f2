"""Cases from the field: real Prometheus, real adapter, a small cluster; answers worked out by hand."""
