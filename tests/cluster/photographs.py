"""Real photographs as the paper takes them: those that are not over-exposed, on 512² pixels."""

import csv

import numpy as np
from PIL import Image

from samecam.fingerprint import fingerprint
from samecam.photos import exposure


def judged_photographs(folder):
    """Fingerprints by the paper's steps, and the cameras."""
    rows, cameras = [], []
    with open(folder / "truth.csv", newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            with Image.open(folder / line["path"]) as image:
                pixels = np.asarray(image.crop((0, 0, 512, 512)))
            if exposure(pixels).saturated <= 0.3:
                rows.append(fingerprint(pixels, preset="paper"))
                cameras.append(line["camera"])
    assert len(rows) == 384
    return np.stack(rows), cameras
