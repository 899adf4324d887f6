"""A clustered case in the formats other tools read; nothing is sent anywhere."""

from samecam.report.export._export import FORMATS, HASHES, Export, export_case

__all__ = ["FORMATS", "HASHES", "Export", "export_case"]
