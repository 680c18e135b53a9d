"""A conversation, its kernels and the person behind them: the turn loop."""
