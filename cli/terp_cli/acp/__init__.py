"""An agent of the Agent Client Protocol: sessions in editors, over stdin and stdout."""
