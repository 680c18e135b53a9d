"""Model calls written to a file, and replayed without a network."""
