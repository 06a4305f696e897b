"""One module for each category of operations, with the dictionary REFERENCES: name of the operation -> reference."""
