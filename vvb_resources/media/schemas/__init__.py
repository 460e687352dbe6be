"""JSON Schemas of the media records, generated from their models."""
