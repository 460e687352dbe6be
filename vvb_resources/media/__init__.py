"""Probe, one-pass decode, speech, frames, blinding: the only package that opens media files or starts ffmpeg."""
