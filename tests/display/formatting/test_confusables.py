import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.formatting import confusables, text

# Letters are written as code points, so that this file can't mislead its readers.
READ_ALIKE = [
    pytest.param("usdc", "USDC", id="small letters"),
    pytest.param("USD\u0421", "USDC", id="Cyrillic Es"),
    pytest.param("U\u0405\u216e\u0422", "USDT", id="Cyrillic and a Roman numeral"),
    pytest.param("\u054dS\u13a0\u0421", "USDC", id="Armenian and Cherokee"),
    pytest.param("\u0405\u041d\u0406\u0412", "SHIB", id="Cyrillic from end to end"),
    pytest.param("\uff35\uff33\uff24\uff23", "USDC", id="full width"),
    pytest.param("\U0001d414SDC", "USDC", id="mathematical bold"),
    pytest.param("\u24caSDC", "USDC", id="in a circle"),
    pytest.param("U\u0301SDC", "USDC", id="an accent"),
    pytest.param("USD\u200bC", "USDC", id="a zero-width space"),
    pytest.param("\u202eUSDC", "USDC", id="a right-to-left override"),
    pytest.param("US DC ", "USDC", id="blanks"),
    pytest.param("$USDC", "USDC", id="a dollar sign before it"),
    pytest.param("LlNK", "LINK", id="a small l for a capital i"),
    pytest.param("WB1TC0IN", "wb1tc0in", id="digits"),
    pytest.param("US0", "USO", id="nought and O"),
    pytest.param("USDT0", "USD\u20ae0", id="the sign of a currency"),
    pytest.param("rnUSD", "mUSD", id="r and n"),
]


@pytest.mark.parametrize(("one", "other"), READ_ALIKE)
def test_names_that_look_the_same_read_the_same(one, other):
    assert confusables.readings(one) & confusables.readings(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("USDC", "USDT", id="another letter"),
        pytest.param("DAI", "DAL", id="capital i and capital l"),
        pytest.param("USDC.e", "USDC", id="a bridged one"),
        pytest.param("USDT", "USD\u20ae0", id="with a nought"),
        pytest.param("ETH+", "ETH", id="a sign"),
        pytest.param("", "\u200b", id="nothing"),
    ],
)
def test_others_do_not(one, other):
    assert not confusables.readings(one) & confusables.readings(other)


IMITATIONS = [
    pytest.param("USD\u0421", [("\u0421", "C")], id="Cyrillic"),
    pytest.param("St\u0440\u0430\u03a4", [("\u0440", "p"), ("\u0430", "a"), ("\u03a4", "T")], id="each by itself"),
    pytest.param("U\u0421S\u0421", [("\u0421", "C")], id="each once"),
    pytest.param("U\u216e", [("\u216e", "D")], id="a Roman numeral"),
    pytest.param("\U0001d414SDC", [("\U0001d414", "U")], id="mathematical"),
    pytest.param("U\uff24", [("\uff24", "D")], id="full width"),
    pytest.param("us\u1d04", [("\u1d04", "c")], id="small capitals"),
    pytest.param("\u0417D", [("\u0417", "3")], id="a digit"),
    pytest.param("\u0421\u0431\u0435\u0440 Coin", [], id="a word in each script"),
    pytest.param("\u0421\u0431\u0435\u0440", [], id="all Cyrillic"),
    pytest.param("\u65e5\u672c\u5186", [], id="Japanese"),
    pytest.param("\u05e2\u05d1\u05e8\u05d9\u05ea", [], id="Hebrew"),
    pytest.param("Alt\u0131n", [], id="Turkish"),
    pytest.param("\u0141\u00f3d\u017a M\u00f8ller Stra\u00dfe \u00c6ther", [], id="accents"),
    pytest.param("USD\u20ae0", [], id="the sign of a currency"),
    pytest.param("Token\u2122 m\u00b3 \u2116 5", [], id="signs"),
]


@pytest.mark.parametrize(("name", "found"), IMITATIONS)
def test_a_letter_imitates_ascii_only_in_a_word_with_ascii_letters(name, found):
    assert [(each.letter, each.instead) for each in confusables.imitations(name)] == found


MIXTURES = [
    pytest.param("s\u03a9HM", ("Latin", "Greek"), id="Greek in Latin"),
    pytest.param("\u0416\u03a9", ("Cyrillic", "Greek"), id="Greek in Cyrillic"),
    pytest.param("\u03a9 Token", None, id="a word in each"),
    pytest.param("\u03a9-Token", None, id="on both sides of a hyphen"),
    pytest.param("USDT\u5c0f", None, id="Chinese and Latin"),
    pytest.param("\u65e5\u672c\u306e\u30c8\u30fc\u30af\u30f3", None, id="all that Japanese is written with"),
    pytest.param("\ud55c\u6f22", None, id="Korean"),
    pytest.param("\u0411\u0438\u0442\u043a\u043e\u0438\u043d2024", None, id="digits"),
    pytest.param("\u00b5Token", None, id="the sign of a millionth"),
    pytest.param("USD\u20ae0", None, id="the sign of a currency"),
    pytest.param("Rocket\U0001f680", None, id="a picture"),
]


@pytest.mark.parametrize(("name", "scripts"), MIXTURES)
def test_a_word_that_mixes_scripts_gets_a_warning(name, scripts):
    found = confusables.mixture(name)
    assert (found and found.scripts) == scripts


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("ETH\u202e", ["\u202e"], id="bidi"),
        pytest.param("U\u200bS\u200bD\u2060C", ["\u200b", "\u2060"], id="zero width, each once"),
        pytest.param("A\u200dB", ["\u200d"], id="a joiner that joins nothing"),
        pytest.param("\U0001f468\u200d\U0001f680", [], id="a picture of two"),
        pytest.param("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", [], id="Persian"),
        pytest.param("USD Coin", [], id="a blank"),
    ],
)
def test_hidden_characters_are_found(name, found):
    assert list(confusables.hidden(name)) == found


@pytest.mark.parametrize(
    ("name", "explicit", "any_"),
    [
        pytest.param("Visit https://claim-usdt.example to redeem", *["https://claim-usdt.example"] * 2, id="a link"),
        pytest.param("claim at WWW.Reward.Xyz/now", *["WWW.Reward.Xyz/now"] * 2, id="www"),
        pytest.param("join t.me/usdc", *["t.me/usdc"] * 2, id="a channel"),
        pytest.param("$ claim-usdt.example", "", "claim-usdt.example", id="a domain"),
        pytest.param("claim-usdt\u2024com", "", "claim-usdt.com", id="a dot that is none"),
        pytest.param("claim\u200b.com", "", "claim.com", id="with something hidden in it"),
        pytest.param("yearn.finance", "", "yearn.finance", id="a token named after its site"),
        pytest.param("USDC.e", "", "", id="a bridged token"),
        pytest.param("Liquid Staked Ether 2.0", "", "", id="a version"),
        pytest.param("U.S. Dollar", "", "", id="an abbreviation"),
        pytest.param("St.George", "", "", id="no such domain"),
    ],
)
def test_web_addresses_are_found(name, explicit, any_):
    assert confusables.link(name, is_explicit=True) == explicit
    assert confusables.link(name, is_explicit=False) == any_


@given(st.text(st.characters(), max_size=60))
def test_any_text_has_readings_without_hidden_characters(name):
    readings = confusables.readings(name)
    assert not any(text.is_hidden(each) or each.isspace() for reading in readings for each in reading)
    assert readings & confusables.readings(f" {name}\u200b") or not readings
