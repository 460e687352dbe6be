"""The asset graph: a folder a stage, thin assets beside plain functions that import no Dagster."""
