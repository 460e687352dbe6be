"""BVB, the second benchmark on the same graph: video understanding by reconstruction in Blender. So far its scores."""
