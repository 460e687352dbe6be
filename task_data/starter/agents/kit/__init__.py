"""Parts the scripted systems share: read the brief, draw text, make sound, encode, and lay out a delivery.

The kit runs inside the sandbox: it needs numpy, scipy, soundfile and the standard library, and the programs `ffmpeg`
and `tts` on PATH. It imports nothing of the platform.

- `brief`   what the agent was given: spec.json, prompt.txt (its tables and fenced blocks), ENVIRONMENT.md's deadline
- `fonts`   font files that are on every machine the toolchain is on
- `motion`  progress and easing
- `synth`   tones, drums, noise, and a mix that places each sound at an exact instant
- `speech`  the `tts` program as samples
- `encode`  frames and sound into an MP4, and the MP4 read back
- `sheets`  timing sheet, production notes, editable project
- `deliver` a film put together and delivered whole: encode, read back, sheets
"""
