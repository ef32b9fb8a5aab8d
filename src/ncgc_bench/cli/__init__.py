"""The verb `ncgc bench`."""
