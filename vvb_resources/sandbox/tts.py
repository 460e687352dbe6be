"""Text to speech for agents: `tts [--voice en|zh] [--speed WORDS_PER_MINUTE] TEXT OUT.wav`.

A script of its own (it is copied into the sandbox's `bin/`, and into the container's image). TEXT `-` reads standard
input, UTF-8. Who speaks is the benchmark's choice (`sandbox.tts`), and the agent's command stays the same:

- espeak-ng through ctypes, its library and voices from the espeakng-loader wheel, else from the system. 16-bit mono WAV
  at 22050 Hz. Function names and constants are those of espeak-ng's speak_lib.h;
- another program: VVB_TTS_COMMAND holds a JSON list with `{voice}`, `{speed}` and `{out}`; the text is its input.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import wave
from pathlib import Path

AUDIO_OUTPUT_SYNCHRONOUS = 2
CHARS_UTF8 = 1
POS_CHARACTER = 1
PARAMETER_RATE = 1
VOICES = {"en": b"en-us", "zh": b"cmn"}
RATES = (80, 450)  # espeak-ng's own bounds, words a minute
COMMAND_VARIABLE = "VVB_TTS_COMMAND"
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def synthesize(text: str, voice: str, speed: int) -> tuple[bytes, int]:
    """Speak `text`: (16-bit little-endian mono PCM, samples a second).

    `voice` is a key of VOICES, `speed` words a minute within RATES. Raises RuntimeError when espeak-ng refuses.
    """
    path, data = espeak_library()
    library = ctypes.CDLL(path)
    rate = library.espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, ctypes.c_char_p(data), 0)
    if rate <= 0:
        raise RuntimeError("espeak-ng does not start: its voice data cannot be read")
    parts: list[bytes] = []

    def take(samples: ctypes._Pointer[ctypes.c_short], count: int, _events: int | None) -> int:
        if samples and count > 0:
            parts.append(ctypes.string_at(samples, 2 * count))
        return 0

    callback = CALLBACK(take)
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(ctypes.c_char_p(VOICES[voice])) != 0:
        raise RuntimeError(f"espeak-ng has no voice {VOICES[voice].decode()}")
    library.espeak_SetParameter(PARAMETER_RATE, speed, 0)
    content = text.encode() + b"\0"
    size = ctypes.c_size_t(len(content))
    if library.espeak_Synth(content, size, 0, POS_CHARACTER, 0, CHARS_UTF8, None, None) != 0:
        raise RuntimeError("espeak-ng cannot speak this text")
    library.espeak_Synchronize()
    library.espeak_Terminate()
    return b"".join(parts), rate


def espeak_library() -> tuple[str, bytes | None]:
    """(the library, the folder that holds its espeak-ng-data or None for its own). Raises RuntimeError without one."""
    try:
        import espeakng_loader
    except ImportError:
        found = ctypes.util.find_library("espeak-ng") or ctypes.util.find_library("espeak")
        if found is None:
            raise RuntimeError("espeak-ng is not installed") from None
        return found, None
    return espeakng_loader.get_library_path(), str(Path(espeakng_loader.get_data_path()).parent).encode()


def speak_by_command(template: str, text: str, voice: str, speed: int, out: Path) -> None:
    """Let the program of `template` (JSON list of arguments) write `out`. Raises RuntimeError when it does not."""
    values = {"{voice}": voice, "{speed}": str(speed), "{out}": str(out)}
    command = [str(part) for part in json.loads(template)]
    for name, value in values.items():
        command = [part.replace(name, value) for part in command]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode or not out.is_file():
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {said[-1] if said else 'no message'}")


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when the file is written, 2 with one line on standard error otherwise."""
    parser = argparse.ArgumentParser(prog="tts", description="Speak a text into a WAV file (22050 Hz, mono, 16 bit).")
    parser.add_argument("--voice", choices=sorted(VOICES), default="en")
    parser.add_argument("--speed", type=int, default=160, metavar="N", help="words a minute, 80 to 450 (default 160)")
    parser.add_argument("text", help="what to say; - reads standard input")
    parser.add_argument("out", type=Path, help="the WAV file to write")
    options = parser.parse_args(arguments)
    text = sys.stdin.read() if options.text == "-" else options.text
    if not text.strip():
        parser.error("there is no text to speak")
    if not RATES[0] <= options.speed <= RATES[1]:
        parser.error(f"--speed is {options.speed}; it must lie between {RATES[0]} and {RATES[1]}")
    try:
        if template := os.environ.get(COMMAND_VARIABLE):
            speak_by_command(template, text, options.voice, options.speed, options.out)
            return 0
        pcm, rate = synthesize(text, options.voice, options.speed)
        with wave.open(str(options.out), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(rate)
            out.writeframes(pcm)
    except (OSError, RuntimeError, ValueError) as error:
        print(f"tts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
