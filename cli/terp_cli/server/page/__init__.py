"""The page of the server: its sources, and the one document that they become."""
