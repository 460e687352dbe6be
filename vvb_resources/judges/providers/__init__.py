"""Judge providers, one file each; the file's name is the provider's id in a panel's YAML."""
