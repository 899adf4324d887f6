"""How Sphinx builds the site of docs/ (`make docs`)."""

import sys
from pathlib import Path

from samecam import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "samecam"
author = "The samecam developers"
project_copyright = "The samecam developers. BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "command_reference",
    "docstrings",
]
exclude_patterns = ["img", "extensions", "examples"]
nitpicky = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
# A docstring's `gamma` may be an attribute of two classes; then it is no link.
suppress_warnings = ["ref.python"]

default_role = "py:obj"  # `name` in a docstring is code, and a link where there is such a name
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "imported-members": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_attr_annotations = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

sphinx_gallery_conf = {
    "examples_dirs": "examples",  # run in the case that the Makefile makes in build/gallery
    "gallery_dirs": "gallery",
    "image_scrapers": ("figures",),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
}

html_theme = "furo"
html_title = f"samecam {version}"
html_static_path = ["extensions/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
