"""Instruments: what a program can measure on sampled frames and on sound, to decide a check that carries a probe.

`frames_pass` and `sound_pass` observe a blinded video once, `observations` keeps what they saw for every panel, and
one file a family of probes (`text`, `picture`, `sound`) turns observations into a verdict. `quality` holds the L3
proxies.
"""
