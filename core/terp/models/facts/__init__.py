"""Prices, context windows and abilities of models."""
