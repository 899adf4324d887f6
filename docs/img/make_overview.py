"""Make overview.png, the picture in the README, from simulated photographs.

python docs/img/make_overview.py
"""

import csv
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from samecam.arrays import Gram, Pixels
from samecam.fingerprint import fingerprint
from samecam.photos import exposure
from samecam.simulate import simulate_photos

CAMERAS, IMAGES, SIDE = 5, 16, 512


def load(folder: Path) -> list[tuple[str, Pixels]]:
    """(camera, pixels) of the well exposed photos, by camera."""
    with open(folder / "truth.csv", encoding="utf-8") as stream:
        truth = sorted((row["camera"], row["path"]) for row in csv.DictReader(stream))
    shots = [(camera, np.asarray(Image.open(folder / path))) for camera, path in truth]
    return [(c, p) for c, p in shots if exposure(p[:SIDE, :SIDE]).status == "good"]


def heat_map(gram: Gram, side: int) -> Image.Image:
    """Correlations as a picture: white 0, dark blue .02 and more."""
    share = np.clip(gram / 0.02, 0, 1)[..., None]
    colour = (1 - share) * 255 + share * np.array([16, 42, 110])
    np.einsum("iic->ic", colour)[:] = [16, 42, 110]
    image = Image.fromarray(colour.astype(np.uint8))
    return image.resize((side, side), Image.Resampling.NEAREST)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "photos"
        simulate_photos(folder, cameras=CAMERAS, images=IMAGES, size=(900, 675), seed=4)
        shots = load(folder)
    vectors = np.asarray([fingerprint(pixels[:SIDE, :SIDE]) for _, pixels in shots])
    sheet = Image.new("RGB", (1180, 460), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(17)
    cameras = [camera for camera, _ in shots]
    for column in range(3):
        for row in range(3):
            pixels = shots[(7 + 23 * (3 * row + column)) % len(shots)][1]
            photo = Image.fromarray(pixels).resize((120, 90))
            sheet.paste(photo, (10 + 126 * column, 60 + 96 * row))
    plane = vectors[3].reshape(SIDE, SIDE)[:120, :120] * SIDE
    residual = np.clip(128 + 40 * plane, 0, 255).astype(np.uint8)
    sheet.paste(Image.fromarray(residual).resize((282, 282)), (430, 60))
    sheet.paste(heat_map(vectors @ vectors.T, 400), (760, 50))
    draw.rectangle((759, 49, 1160, 450), outline=(120, 120, 120))
    draw.text((10, 20), "a pile of photographs", fill="black", font=font)
    draw.text((430, 20), "one photo's noise residual (detail)", fill="black", font=font)
    draw.text((760, 20), "how alike they are, sorted by camera", fill="black", font=font)
    for x in (395, 725):
        draw.polygon([(x, 190), (x + 20, 200), (x, 210)], fill=(90, 90, 90))
    draw.text(
        (10, 360),
        f"{len(shots)} simulated photos, {len(set(cameras))} cameras",
        fill=(90, 90, 90),
        font=font,
    )
    sheet.quantize(96).save(Path(__file__).parent / "overview.png", optimize=True)


if __name__ == "__main__":
    main()
