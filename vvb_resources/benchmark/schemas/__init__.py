"""The generated JSON Schemas; a package so that they are installed with the code."""
