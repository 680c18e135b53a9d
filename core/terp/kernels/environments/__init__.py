"""The Python that runs the code, and the packages in it."""
