"""Batch interfaces of services: one file for each provider that has one, named as the provider's own."""
