"""What to serve: the rules file, templates, names, queries, GPU fields; no I/O."""
