"""What code would do, told before it runs: an account of its effects that informs and never decides."""
