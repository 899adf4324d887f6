"""Photo files to pixels: list them, decode what is used, say why not."""

from samecam.photos._decode import LARGEST, SMALLEST, At, Crop, Portrait, check_crop, read_photo
from samecam.photos._exif import Exif
from samecam.photos._frame import read_frame
from samecam.photos._header import MOST_PIXELS, READ, looks_like_picture, read_header
from samecam.photos._jpeg_scans import load_kernels
from samecam.photos._photo import PHOTO_CODES, Photo, PhotoCode, PhotoError, PhotoInfo
from samecam.photos._scan import PhotoFile, scan, would_find
from samecam.photos._screen import Exposure, exposure, frame_exposure
from samecam.photos._service import JpegFacts, jpeg_facts, likely_service, services
from samecam.photos._small import SIDE, low_pass

__all__ = [
    "LARGEST",
    "MOST_PIXELS",
    "PHOTO_CODES",
    "READ",
    "SIDE",
    "SMALLEST",
    "At",
    "Crop",
    "Exif",
    "Exposure",
    "JpegFacts",
    "Photo",
    "PhotoCode",
    "PhotoError",
    "PhotoFile",
    "PhotoInfo",
    "Portrait",
    "check_crop",
    "exposure",
    "frame_exposure",
    "jpeg_facts",
    "likely_service",
    "load_kernels",
    "looks_like_picture",
    "low_pass",
    "read_frame",
    "read_header",
    "read_photo",
    "scan",
    "services",
    "would_find",
]
