"""What is offered, what was read, and how samples become one value an object."""
