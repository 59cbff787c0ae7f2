"""Constants as Go writes them: numbers, characters and quoted texts."""

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL
)
_NAMED_ESCAPES = dict(zip("abfnrtv\\", "\a\b\f\n\r\t\v\\", strict=True))
_BASES = (
    (re.compile(r"([+-]?)0[xX]((?:_?[0-9a-fA-F])+)"), 16),
    (re.compile(r"([+-]?)0[bB]((?:_?[01])+)"), 2),
    (re.compile(r"([+-]?)0[oO]?((?:_?[0-7])+)"), 8),
    (re.compile(r"([+-]?)(0|[1-9](?:_?[0-9])*)"), 10),
)
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number(text: str) -> int | float:
    """Give the number that `text` spells; raises ValueError when it is none, or none served."""
    for pattern, base in _BASES:
        if found := pattern.fullmatch(text):
            return _in_64_bits(text, int(found[1] + found[2].replace("_", ""), base))
    if not _FLOAT.fullmatch(text):
        msg = f"{text} is not a number that is served here"
        raise ValueError(msg)
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        msg = f"{text} is too large"
        raise ValueError(msg)
    return value


def character(text: str) -> int:
    """Give the code of a character between single quotes; raises ValueError for anything else."""
    raw = _unescaped(text[1:-1], quote="'")
    # An escape of a byte stands for the character with that code here, not for part of UTF-8.
    if re.fullmatch(r"\\(x[0-9a-fA-F]{2}|[0-7]{3})", text[1:-1]):
        return raw[0]
    value = _decoded(raw, text)
    if len(value) != 1:
        msg = f"{text} is not one character"
        raise ValueError(msg)
    return ord(value)


def unquoted(text: str) -> str:
    """Give the text between double or back quotes; raises ValueError for an escape not of Go's."""
    if text.startswith("`"):
        return text[1:-1].replace("\r", "")
    return _decoded(_unescaped(text[1:-1], quote='"'), text)


def _in_64_bits(text: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        msg = f"{text} is too large"
        raise ValueError(msg)
    return value


def _unescaped(text: str, *, quote: str) -> bytes:
    made, position = b"", 0
    for escape in _ESCAPE.finditer(text):
        made += text[position : escape.start()].encode(errors="surrogatepass")
        made += _meant(escape, quote)
        position = escape.end()
    return made + text[position:].encode(errors="surrogatepass")


def _meant(escape: re.Match[str], quote: str) -> bytes:
    byte, *codes = escape[1], escape[2] or escape[3]
    if byte:
        return bytes([int(byte, 16)])
    if escape[4] and int(escape[4], 8) < 256:
        return bytes([int(escape[4], 8)])
    if codes[0] and _is_character(int(codes[0], 16)):
        return chr(int(codes[0], 16)).encode()
    if escape[5] == quote or escape[5] in _NAMED_ESCAPES:
        return _NAMED_ESCAPES.get(escape[5], quote).encode()
    msg = f"{escape[0]} is no escape of Go's"
    raise ValueError(msg)


def _is_character(code: int) -> bool:
    return code < 0x110000 and not 0xD800 <= code < 0xE000


def _decoded(raw: bytes, text: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        msg = f"{text} is no text in UTF-8"
        raise ValueError(msg) from error
