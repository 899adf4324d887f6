"""Text of the pages of a PDF as Chromium writes them: objects one after the other, text in hex."""

import re
import zlib


def page_texts(data):
    """The characters of each page, in the order in which they are drawn."""
    objects = {int(k): body for k, body in re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", data, re.S)}
    maps = {k: _characters(objects, body) for k, body in objects.items() if b"/ToUnicode" in body}
    pages = [body for body in objects.values() if re.search(rb"/Type /Page\b", body)]
    return [_text(objects, page, maps) for page in pages]


def _stream(body):
    start = re.search(rb"stream\r?\n", body).end()
    data = body[start : body.rindex(b"\nendstream")]
    return zlib.decompress(data) if b"/FlateDecode" in body else data


def _characters(objects, font):
    """Glyphs of a font to characters."""
    table = _stream(objects[int(re.search(rb"/ToUnicode (\d+)", font)[1])]).decode("ascii")
    known = {}
    for block in re.findall(r"beginbfchar(.*?)endbfchar", table, re.S):
        for glyph, text in re.findall(r"<(\w+)> <(\w+)>", block):
            known[int(glyph, 16)] = bytes.fromhex(text).decode("utf-16-be")
    for block in re.findall(r"beginbfrange(.*?)endbfrange", table, re.S):
        for first, last, text in re.findall(r"<(\w+)> <(\w+)> <(\w+)>", block):
            for k in range(int(first, 16), int(last, 16) + 1):
                known[k] = chr(int(text, 16) + k - int(first, 16))
    return known


def _text(objects, page, maps):
    fonts = {name: int(k) for name, k in re.findall(rb"/(F\d+) (\d+) 0 R", page)}
    content = _stream(objects[int(re.search(rb"/Contents (\d+)", page)[1])])
    known, result = {}, []
    for font, text in re.findall(rb"/(F\d+) [\d.]+ Tf|<(\w+)> Tj", content):
        if font:
            known = maps.get(fonts[font], {})
        else:
            glyphs = text.decode("ascii")
            each = (int(glyphs[k : k + 4], 16) for k in range(0, len(glyphs), 4))
            result.append("".join(known.get(glyph, "?") for glyph in each))
    return "".join(result)
