"""The drawing workshop of the raster system: inks, easing, sprites and lettering on PIL and numpy."""
