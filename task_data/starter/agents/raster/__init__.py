"""The raster system: every frame is pressed together from stamps on a sheet of pixels (PIL, numpy)."""
