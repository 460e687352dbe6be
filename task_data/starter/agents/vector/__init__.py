"""The vector sketcher: a scripted system that draws with Skia and satisfies every sentence of its prompts."""
