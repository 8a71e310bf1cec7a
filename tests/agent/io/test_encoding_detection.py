"""The encoding of a text is found if it is declared wrongly or not at all."""
# ruff: noqa: RUF001 - text in many scripts

import pytest

from agent.io.encoding_detection import decode_declared, detect_encoding, find_encoding

# Names of players and events, results and comments.
TEXTS = {
    "gb18030": [
        "柯洁",
        "朴廷桓 九段",
        "唐韦星",
        "黑中盘胜",
        "中国规则",
        "第三届百灵杯决赛第二局",
        "芈昱廷",
    ],
    "cp932": [
        "井山裕太",
        "一力遼 棋聖",
        "黒番中押し勝ち",
        "本因坊戦",
        "ソ表能",
        "武宮正樹",
        "第１局",
    ],
    "euc_jp": ["黒番中押し勝ち", "白半目勝ち", "第70期本因坊戦七番勝負第１局", "この手が敗着。"],
    "cp949": ["이창호", "신진서 9단", "흑불계승", "백 반집승", "제1회 응씨배 결승", "타이젬"],
    "big5hkscs": ["周俊勳 九段", "黑中盤勝", "王元均", "這手棋有問題，應該補在右邊。", "許皓鋐"],
    "cp1252": ["Réti", "Jörg Großmann", "Partie commentée à l’école", "Škoda", "¿Qué jugada?"],
    "cp1250": ["Łukasz Gżegżółka", "czarne wygrały", "Žluťoučký kůň"],
    "cp1251": ["Шикшин", "Партия чемпионата Европы", "чёрные выиграли"],
    "koi8_r": ["Шикшин", "Партия чемпионата Европы"],
    "utf-8": ["柯洁", "黒番中押し勝ち", "이창호", "Réti", "Шикшин", "é"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts]
)
@pytest.mark.parametrize("declared", ["", "x-unknown", "rot13", "US-ASCII-8"])
def test_encoding_is_detected_in_short_texts(encoding: str, text: str, declared: str) -> None:
    wrapped = f"(;GM[1]FF[4]SZ[19]PB[{text}]PW[b]KM[6.5];B[pd];W[dp])"
    assert decode_declared(wrapped.encode(encoding), declared) == wrapped


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        *((name, "cp932") for name in ("Shift_JIS", "shift-jis", "x-sjis", "Windows-31J", "MS932")),
        *(
            (name, "gb18030")
            for name in ("GB2312", "gbk", "GB18030", "windows-936", "x-gbk", "EUC-CN")
        ),
        *((name, "big5hkscs") for name in ("Big5", "BIG5-HKSCS", "cp950")),
        *(
            (name, "cp949")
            for name in ("EUC-KR", "x-euc-kr", "ks_c_5601-1987", "windows-949", "UHC")
        ),
        *((name, "euc_jp") for name in ("EUC-JP", "x-euc-jp")),
        *((name, "cp1252") for name in ("ISO-8859-1", "latin1", "US-ASCII")),
        *(("UTF-8", "utf-8"), (" utf8 ", "utf-8"), ("ISO-8859-2", "iso8859-2")),
        *(("CP-1250", "cp1250"), ("Windows-1250", "cp1250"), ("Latin 2", "iso8859-2")),
        *((name, None) for name in ("", "ANSI", "rot13", "hex", "utf-7", "utf-16", "idna", "\0")),
        *((name, None) for name in ("unicode_escape", "raw_unicode_escape", "cp037", "a" * 9999)),
    ],
)
def test_names_of_encodings_are_known(declared: str, expected: str | None) -> None:
    assert find_encoding(declared) == expected


def test_a_wrong_declaration_is_ignored() -> None:
    text = "(;PB[黒番中押し勝ち];B[aa])"
    assert decode_declared(text.encode("cp932"), "UTF-8") == text
    assert decode_declared(text.encode(), "Shift_JIS") == text
    assert decode_declared(text.encode("utf-16"), "Shift_JIS") == text
    assert decode_declared(text.encode("utf-16-le"), "") == text
    for text in ("(;PB[Иванов])", "(;PB[Dvořák]PW[Škola])"):
        assert decode_declared(text.encode(), "GBK") == text
        assert decode_declared(text.encode(), "Shift_JIS") == text
    text = "(;PB[聂卫平])"
    assert decode_declared(text.encode("gb18030"), "GBK") == text


def test_damaged_characters_do_not_change_the_encoding() -> None:
    text = "(;C[黒番中押し勝ち\r\n白半目勝ち\r];B[aa])"
    damaged = text.encode().replace("勝".encode(), "勝".encode()[:-1], 1)
    assert decode_declared(damaged, "").endswith("ち\n白半目勝ち\n];B[aa])")
    assert "黒番中押し" in decode_declared(damaged, "UTF-8")


def test_detection_looks_beyond_the_start_of_a_text() -> None:
    assert detect_encoding(b"a" * 100_000 + "黒番中押し勝ち".encode("cp932")) == "cp932"
    assert detect_encoding(b"") == "cp1252"
