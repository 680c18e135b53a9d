"""Ways to reach a model: the direct adapter, litellm, and retries around them."""
