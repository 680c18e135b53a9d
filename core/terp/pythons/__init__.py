"""Which Python runs the code: finding it, asking about it, giving it a kernel."""
