"""One module for each family of operations, with the dictionary REFERENCES: name of the operation -> reference."""
