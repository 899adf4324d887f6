"""Simulated photos into which a stamp is printed."""

from functools import cache

import numpy as np
from PIL import Image

from samecam import Resources

WIDTH, HEIGHT = 448, 384
CAMERAS, PHOTOS, STRANGERS = 4, 7, 5
STAMP = (slice(HEIGHT - 44, HEIGHT - 4), slice(WIDTH - 104, WIDTH - 4))
# Of weak cameras with a large stamp a stranger has most of the scores.
WEAK = {
    "strength": 0.006,
    "place": (slice(HEIGHT - 124, HEIGHT - 4), slice(WIDTH - 244, WIDTH - 4)),
}
SETTINGS = {"search": "off", "resources": Resources(workers=2)}


@cache
def pattern(number):
    return np.random.default_rng([7, number]).standard_normal((HEIGHT, WIDTH))


def photo(camera, number, stamp, strength=0.03, place=STAMP):
    """A gray picture with a camera's pattern, and a stamp so many gray levels high."""
    rng = np.random.default_rng([camera, number])
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    light = 125 + 40 * np.sin(x / rng.uniform(40, 90) + number) * np.cos(y / rng.uniform(40, 90))
    light *= 1 + strength * pattern(camera)
    light += rng.normal(0, 3, light.shape)
    light[place] += stamp * np.sign(pattern(99)[place])
    return Image.fromarray(np.clip(light, 0, 255).astype(np.uint8))


def take(folder, stamp, strangers, **kind):
    folder.mkdir()
    for camera in range(CAMERAS):
        for number in range(PHOTOS):
            exif = Image.Exif()
            exif.get_ifd(0x8769)[0xA401] = 8 if camera == 0 and number < 3 else 0
            name = folder / f"{camera}-{number}.jpg"
            photo(camera, number, stamp, **kind).save(name, quality=94, exif=exif)
    for k in range(strangers):
        photo(50 + k, 0, stamp, **kind).save(folder / f"x-{k}.jpg", quality=94)


def alone(folder, photos, **kind):
    """Stamped photos of some weak cameras, as `camera-number.jpg`."""
    folder.mkdir(exist_ok=True)
    for camera, number in photos:
        picture = photo(camera, number, **{"stamp": 6, "strength": 0.006, **kind})
        picture.save(folder / f"{camera}-{number}.jpg", quality=94)
    return folder


def not_looked_for(monkeypatch):
    """Nothing is left out of what photos in question are compared with."""
    monkeypatch.setattr("samecam.case.matching._match.case_patterns", lambda _: {})
    monkeypatch.setattr("samecam.evidence.standing_out", lambda *_: [])
