#!/usr/bin/env python3
"""Reads films back with FFmpeg (PyAV) and compares every picture with the PNG that it was made of.

    film_readback.py FILM PICTURES...        one film and its pictures in order
    film_readback.py --folder DIR            every NAME.mp4 with NAME-0000.png, ... beside it
"""

import argparse
import math
import sys
from pathlib import Path

import av
import numpy as np
from PIL import Image

# Half the resolution in colour and a coarse brightness: less than this (dB) is seen.
LEAST = 38.0
# Pictures with noise, which colour at half the resolution cannot hold: told by brightness alone.
LEAST_LUMA = 38.0


def noise_ratio(a, b):
    error = float(np.mean((a.astype(float) - b.astype(float)) ** 2))
    return 10 * math.log10(255**2 / max(error, 1e-9))


def luma(rgb):
    return 16 + rgb.astype(float) @ np.array([0.2126, 0.7152, 0.0722]) * 219 / 255


def compare(film, pictures, only_luma):
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264", stream.codec_context.name
        frames = list(container.decode(stream))
    assert len(frames) == len(pictures), f"{film}: {len(frames)} pictures in the film, {len(pictures)} were drawn"
    worst = math.inf
    times = [frame.time for frame in frames]
    assert all(b > a for a, b in zip(times, times[1:])), "times do not rise"
    for frame, picture in zip(frames, pictures):
        wanted = np.array(Image.open(picture).convert("RGB"))
        height, width = wanted.shape[:2]
        assert (frame.width, frame.height) == (width + width % 2, height + height % 2), (frame.width, frame.height)
        if only_luma:
            plane = frame.to_ndarray(format="yuv420p")[: frame.height, : frame.width]
            ratio = noise_ratio(plane[:height, :width], luma(wanted))
        else:
            ratio = noise_ratio(frame.to_ndarray(format="rgb24")[:height, :width], wanted)
        worst = min(worst, ratio)
    least = LEAST_LUMA if only_luma else LEAST
    assert worst >= least, f"{film}: {worst:.1f} dB between a picture and what the film shows of it, expected {least}"
    print(f"{film.name}: {len(frames)} pictures, at least {worst:.1f} dB, {film.stat().st_size / len(frames) / 1000:.1f} kB each")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("film", nargs="?", type=Path)
    parser.add_argument("pictures", nargs="*", type=Path)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.folder:
        films = sorted(options.folder.glob("*.mp4"))
        assert films, f"no films in {options.folder}"
        for film in films:
            compare(film, sorted(options.folder.glob(f"{film.stem}-*.png")), True)
    if options.film:
        compare(options.film, options.pictures, False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
