"""Decode texts whose encoding is declared wrongly or not at all."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from contextlib import suppress

from agent.io.text_files import decode_text

# Names that Python does not know, and names of character sets with the usual supersets: programs
# write characters of the superset too.
_ALIASES = {
    **dict.fromkeys(("gb", "gb2312", "gbk", "euccn", "cp936"), "gb18030"),
    **dict.fromkeys(("shiftjis", "sjis", "mskanji", "cp31j"), "cp932"),
    **dict.fromkeys(("big5", "cp950"), "big5hkscs"),
    **dict.fromkeys(("euckr", "ksc5601"), "cp949"),
    **dict.fromkeys(("iso88591", "ascii"), "cp1252"),
}
_ASCII = bytes(range(32, 126))
# Codecs of Python that keep ASCII, but are no encodings of texts, or (on Windows) stand for the
# encoding of this computer.
_NO_ENCODINGS = ("idna", "unicode-escape", "raw-unicode-escape", "mbcs", "oem")
_SAMPLE_SIZE = 1 << 16
_MIN_SCORE = 0.4
_MAX_VALID_BY_CHANCE = 4

# Frequent characters in game records and in names: they tell the languages of short texts apart.
# For each encoding: these characters, a character set, and its lead bytes of common characters.
_SHARED = "一二三四五六七八九十第人大中上下白本名局手目半勝段日年月"
_COMMON = {
    "gb18030": (
        "的是在不了有和这个为国我以要他时来们生到作地于出就分对成会可主发动同工也能过子说面而方后黑"
        "棋胜负贴盘规则围赛杯决届李王张刘陈杨赵黄周吴徐孙马朱罗古力柯洁常昊聂卫平" + _SHARED,
        *("gb2312", 0xB0, 0xD7),
    ),
    "cp932": (
        "のにはをたがでてとしれさあいうえおかきくけこすせそちつなねひふへほまみむめもやゆよらりるわん"
        "っ、。ー・黒番敗押戦期因坊棋聖井山田村藤小林高" + _SHARED,
        *("euc_jp", 0xB0, 0xCF),
    ),
    "cp949": (
        "이그는을의가에고다하지기사리나도한로인어자서시으수부스대정만일해상여보전국아제주원장구동선비"
        "성조위라마흑백집반승패불계단덤김박최강윤임오신유권황안송홍양배허남심노민진세돌창호훈현",
        *("euc_kr", 0xB0, 0xC8),
    ),
    "big5hkscs": (
        "的是在不了有和這個為國我以要他時來們生到作地於出就分對成會可主發動同工也能過子說面而方後黑"
        "棋負貼盤規則圍賽杯決屆李王張劉陳楊趙黃周吳徐孫馬朱羅林" + _SHARED,
        *("big5", 0xA4, 0xC6),
    ),
}
_COMMON["euc_jp"] = _COMMON["cp932"]
_CYRILLIC = re.compile(r"\b[\u0410-\u042f\u0401]?[\u0430-\u044f\u0451]{2,}\b")
_CENTRAL_EUROPEAN = "ÁÂÄÉËÍÎÓÔÖÚÜÝáâäéëíîóôöúüýßŔĂĹĆÇČĘĚĎĐŃŇŐŘŮŰŢŕăĺćçčęěďđńňőřůűţŚŠŤŹŽśšťźž"
# Patterns of words, or of letters in words, for encodings with one byte for each character.
_WORDS = {
    "cp1251": _CYRILLIC,
    "koi8_r": _CYRILLIC,
    # A letter, or a quotation mark or dash, between characters of ASCII.
    "cp1252": re.compile(
        "(?<![^\0-\x7f])[À-ÖØ-öø-ÿŠŽšžŒœŸ\u2018\u2019\u201c\u201d\u2013](?![^\0-\x7f])"
    ),
    # Some letters have the codes of signs in Windows-1252, so that only those in words count.
    "cp1250": re.compile(
        f"(?<![^\0-\x7f])[{_CENTRAL_EUROPEAN}\u2018\u2019\u201c\u201d\u2013](?![^\0-\x7f])"
        f"|(?<=[A-Za-z])[{_CENTRAL_EUROPEAN}ąłżşľ]{{1,3}}(?![^\0-\x7f])|[ŁŻĄŞĽ](?=[a-z])"
    ),
}


def find_encoding(name: str) -> str | None:
    """Return Python's name of an encoding that contains ASCII, or None if it is unknown."""
    name = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").removeprefix("x-")
    name = re.sub(r"^(windows|ms|cp)-?(?=\d)", "cp", name)
    name = re.sub(r"^latin-(?=\d)", "latin", name)
    with suppress(LookupError, ValueError):
        name = codecs.lookup(name).name
    key = re.sub(r"[^a-z0-9]", "", name)
    try:
        codec = codecs.lookup(_ALIASES.get(key, name)).name
        if codec in _NO_ENCODINGS or _ASCII.decode(codec) != _ASCII.decode("ascii"):
            return None
        return codec
    except (LookupError, ValueError):
        return None


def decode_declared(data: bytes, name: str) -> str:
    """Decode a text that declares the encoding `name`, which may be empty, unknown or wrong.

    Byte order marks are removed, and all line endings are converted to newlines.
    """
    encoding = find_encoding(name) or "utf-8"
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode_text(data)
    if 0 in data[:2]:
        encoding = "utf-16-be" if data[0] == 0 else "utf-16-le"
    elif encoding in _COMMON and _is_utf8(data, encoding):
        encoding = "utf-8"
    elif encoding == "utf-8" and b"\x1b$" in data:
        encoding = "iso2022_jp"
    text = data.decode(encoding, "replace")
    invalid = text.count("\ufffd")
    # A few damaged characters are no reason to distrust the declaration.
    if 4 * invalid > len(text) - len(text.encode("ascii", "ignore")):
        detected = detect_encoding(data)
        encoding = "utf-8" if detected == "cp1252" else detected
        text = data.decode(encoding, "replace")
    if encoding == "utf-8":
        return decode_text(data)  # reads bytes that are not valid UTF-8 as Windows-1252
    return text.replace("\r\n", "\n").replace("\r", "\n")


def detect_encoding(data: bytes) -> str:
    """Return the most probable encoding of a text that is not in UTF-8."""
    sample = _sample(data)
    scores = {encoding: _score(sample, encoding) for encoding in (*_COMMON, *_WORDS)}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= _MIN_SCORE else "cp1252"


def _sample(data: bytes) -> bytes:
    """Return the text from the first byte that is not ASCII."""
    found = re.search(rb"[\x80-\xff]", data)
    start = found.start() if found else 0
    return data[max(start - 1, 0) : start + _SAMPLE_SIZE]


def _is_utf8(data: bytes, declared: str) -> bool:
    """Return whether a text that declares another encoding is UTF-8.

    A few characters of two bytes may be valid by chance.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    count = len(data) - len(text)  # of characters, unless one has three bytes
    if count > _MAX_VALID_BY_CHANCE or max(text, default="") > "\u07ff":
        return True
    return count > 0 and _score(_sample(data), declared) < _MIN_SCORE


def _score(sample: bytes, encoding: str) -> float:
    """Return how well a text that is decoded as `encoding` resembles the languages in it."""
    text = sample.decode(encoding, "replace")
    counts = Counter(char for char in text if char > "\x7f")
    if encoding in _WORDS:
        matched = sum(map(len, _WORDS[encoding].findall(text)))
        return 1.2 * matched / max(counts.total(), 1)
    total = sum(count * _weight(char, encoding) for char, count in counts.items())
    return total / max(counts.total(), 1)


def _weight(char: str, encoding: str) -> float:
    common, charset, first, last = _COMMON[encoding]
    if char in common:
        return 2
    if encoding in ("cp932", "euc_jp") and "\u3040" <= char <= "\u30ff":
        return 1.5
    if "\u3000" <= char <= "\u3020" or "\uff00" <= char <= "\uff60":  # punctuation
        return 1
    encoded = char.encode(charset, "ignore")
    if len(encoded) != 2 or "\uff61" <= char <= "\uff9f":  # half-width katakana
        return -0.3 if "\u4e00" <= char <= "\u9fff" else -1
    return 1 if first <= encoded[0] <= last else 0.2
