"""Scenarios in which the funds arrive, if in unusual ways. Times are seconds after the quote."""

from typing import Final

from intents_ui.emulator.quote_requests import Deal
from intents_ui.emulator.scenario_engine import Moment, Scenario, steps

ETHEREUM, BASE, ARBITRUM, OPTIMISM, POLYGON, SOMNIA, SOLANA = 1, 8453, 42161, 10, 137, 5031, 792703809
SOLANA_USDC: Final = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v"


def _hostile_memo() -> str:
    opening = (
        "<script>alert(1)</script> CALL +1-555-0100 TO RELEASE FUNDS\n"
        '<img src=x onerror=alert(2)> "><svg/onload=alert(3)> {{7*7}} ${7*7} \r\n\t'
        "\u202ednufer ruoy mialc\u202c \u200b\u200d\u2066https://refund.example\u2069 🧨👩‍👩‍👧‍👦"
        " e\u0301\u0327 \ufeff'; DROP TABLE intents; --\n"
    )
    return (opening * (10_000 // len(opening) + 1))[:10_000]


ARRIVALS: Final = (
    Scenario(
        1,
        "same-chain-swap",
        "Swap on one chain",
        "A normal swap. It stays on one chain, so there is no destination transaction to wait for.",
        "Base 25 USDC → ETH (Base)",
        Deal((BASE, "USDC"), (BASE, "ETH"), ("SUSHI",), "25"),
        steps("""
            0   QUOTED
            8   COMMITTED
            30  EXECUTING  PENDING    ON_HOLD
            32  EXECUTING  MINING     ON_HOLD
            35  EXECUTING  SUCCEEDED  PENDING
            36  EXECUTING  SUCCEEDED  RELAYING
            37  EXECUTING  SUCCEEDED  MINING
            40  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(37),
        weight=180,
    ),
    Scenario(
        2,
        "cross-chain-fast",
        "Fast bridge",
        "The most common transfer: a deposit, an origin and a destination transaction in under a minute.",
        "Arbitrum 100 USDC → Base USDC",
        Deal((ARBITRUM, "USDC"), (BASE, "USDC"), ("RELAY",), "100"),
        steps("""
            0   QUOTED
            6   COMMITTED
            22  EXECUTING  MINING     ON_HOLD    ON_HOLD
            24  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
            26  EXECUTING  SUCCEEDED  SENT       ON_HOLD
            29  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            35  EXECUTING  SUCCEEDED  SUCCEEDED  RELAYING
            37  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
            40  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(37),
        weight=340,
    ),
    Scenario(
        3,
        "cctp-slow",
        "Slow bridge, nothing wrong",
        "A standard CCTP transfer from Ethereum takes 13 to 19 minutes. A long wait alone doesn't mean trouble.",
        "Ethereum 5,000 USDC → Base USDC",
        Deal((ETHEREUM, "USDC"), (BASE, "USDC"), ("CCTP",), "5000", duration=1140),
        # Nothing happens at 708 s, when clients with a ten-minute timeout give up.
        steps("""
            0     QUOTED
            10    COMMITTED
            45    EXECUTING  MINING     ON_HOLD    ON_HOLD
            72    EXECUTING  SUCCEEDED  PENDING    ON_HOLD
            90    EXECUTING  SUCCEEDED  MINING     ON_HOLD
            108   EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            1075  EXECUTING  SUCCEEDED  SUCCEEDED  PENDING
            1079  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
            1083  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(708),
        weight=40,
    ),
    Scenario(
        4,
        "swap-then-bridge",
        "Swap, then bridge",
        "Two providers share this transfer. The first swaps, the second bridges.",
        "Polygon 250 USDT → Base ETH",
        Deal((POLYGON, "USDT"), (BASE, "ETH"), ("ZEROX", "RELAY"), "250"),
        steps("""
            0   QUOTED
            7   COMMITTED
            25  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
            31  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            52  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(25),
        weight=110,
    ),
    Scenario(
        15,
        "gasless-permit",
        "Gasless deposit",
        "The owner only signs. A relayer sends the deposit, and the network fee is charged in USDC.",
        "Base 15 USDC → Arbitrum USDC",
        Deal((BASE, "USDC"), (ARBITRUM, "USDC"), ("RELAY",), "15", deposit="gasless"),
        steps("""
            0   QUOTED
            9   COMMITTED
            20  EXECUTING  PENDING    ON_HOLD    ON_HOLD
            22  EXECUTING  RELAYING   ON_HOLD    ON_HOLD
            23  EXECUTING  SENT       ON_HOLD    ON_HOLD
            25  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
            42  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(22),
        weight=80,
    ),
    Scenario(
        16,
        "exact-output-payment",
        "Payment of an exact amount",
        "The recipient is a merchant, not the owner, and gets exactly 50 USDC. The memo carries the order number.",
        "Polygon 51.3 USDT → exactly 50 USDC for a merchant on Base",
        Deal(
            (POLYGON, "USDT"),
            (BASE, "USDC"),
            ("ZEROX", "CCTP"),
            "51.3",
            receive="50",
            exact_output=True,
            payee="merchant",
            calls=True,
            memo="Order #48213",
        ),
        steps("""
            0   QUOTED
            6   COMMITTED
            28  EXECUTING  SUCCEEDED  MINING     ON_HOLD
            33  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            52  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(28),
        weight=70,
    ),
    Scenario(
        17,
        "unknown-words",
        "Unknown provider and status",
        "Names that the page doesn't know yet are shown as received. The rest of the page works as usual.",
        "Base 10 USDC → Somnia SOMI",
        Deal((BASE, "USDC"), (SOMNIA, "SOMI"), ("EVERLONG", "FUTURE_BRIDGE"), "10"),
        steps(
            """
            0   QUOTED
            30  EXECUTING  SUCCEEDED  SUCCEEDED  QUEUED
            60  SUCCEEDED  SUCCEEDED  SUCCEEDED  RELAYED
            """,
            {30: {"destination.context": "FUTURE_CONTEXT", "destination.type": "ROUTE"}},
        ),
        worst=Moment(30),
    ),
    Scenario(
        19,
        "dust-and-giants",
        "Tiny and huge amounts",
        "Amounts are exact to the last digit, from 0.000000000000000001 ETH to 1,000,000,000,000 DAI.",
        "Base 0.000000000000000001 ETH → WETH (Base), or 1,000,000,000,000 DAI → USDC (Base)",
        Deal((BASE, "ETH"), (BASE, "WETH"), ("WETH",), "0.000000000000000001", free=True),
        steps("""
            0   QUOTED
            20  EXECUTING  SUCCEEDED  MINING
            25  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(25, "B"),
        variant_deals={"B": Deal((BASE, "DAI"), (BASE, "USDC"), ("WETH",), "1000000000000", free=True)},
    ),
    Scenario(
        20,
        "hostile-memo",
        "Hostile memo",
        "A memo can contain anything, even code or a fake support number. Don't trust or follow what it says.",
        "Base 5 USDC → Base USDC (merchant)",
        Deal((BASE, "USDC"), (BASE, "USDC"), ("RELAY",), "5", payee="merchant", memo=_hostile_memo()),
        steps("""
            0   QUOTED
            25  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(25),
    ),
    Scenario(
        21,
        "late-destination",
        "Destination transaction not created yet",
        "The destination transaction can appear late. While it is missing, the transfer is still in progress.",
        "Arbitrum 20 USDC → Optimism USDC",
        Deal((ARBITRUM, "USDC"), (OPTIMISM, "USDC"), ("RELAY",), "20"),
        steps("""
            0   QUOTED
            25  EXECUTING  SUCCEEDED  MINING
            29  EXECUTING  SUCCEEDED  SUCCEEDED
            33  EXECUTING  SUCCEEDED  SUCCEEDED  PENDING
            40  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(29),
        weight=20,
    ),
    Scenario(
        24,
        "relayer-retries",
        "Relayer retries a step",
        "An error that is being retried isn't a failure. Wait a few minutes before acting.",
        "Base 45 USDC → Polygon USDC",
        Deal((BASE, "USDC"), (POLYGON, "USDC"), ("CCTP",), "45"),
        steps(
            """
            0   QUOTED
            25  EXECUTING  SUCCEEDED  RELAYING   ON_HOLD
            28  EXECUTING  SUCCEEDED  ERRORED    ON_HOLD
            33  EXECUTING  SUCCEEDED  RELAYING   ON_HOLD
            38  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            60  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {28: {"origin.statusReason": "relayer: nonce too low"}},
        ),
        worst=Moment(28),
        weight=30,
    ),
    Scenario(
        26,
        "succeeded-with-nulls",
        "Delivered, amount not reported",
        "The service reports success without the amount. To see the amount, open the last transaction.",
        "Base 12 USDC → Arbitrum USDC",
        Deal((BASE, "USDC"), (ARBITRUM, "USDC"), ("RELAY",), "12"),
        steps(
            """
            0   QUOTED
            40  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {
                40: {
                    "deposit.txnHash": "",
                    "summary.finishedAt": None,
                    "summary.destinationTokenAmount": None,
                    "summary.destinationToAddress": "",
                }
            },
        ),
        worst=Moment(40),
    ),
    Scenario(
        29,
        "paid-twice",
        "Delivered, then deposited again",
        "A second deposit isn't forwarded. It stays at the deposit address until the owner's wallet recovers it.",
        "Base 10 USDC → Polygon USDC, deposited twice",
        Deal((BASE, "USDC"), (POLYGON, "USDC"), ("CCTP",), "10"),
        steps(
            """
            0     QUOTED
            60    SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            3600  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {3600: {"balance": ("origin", 1, 1)}},
        ),
        worst=Moment(3600),
        weight=2,
    ),
    Scenario(
        30,
        "edge-and-extra-fields",
        "Deposit from Solana",
        "A deposit can come from a chain with other address formats. The rest of the transfer works as usual.",
        "Solana 35 USDC → Base USDC",
        Deal((SOLANA, SOLANA_USDC), (BASE, "USDC"), ("RELAY",), "35", edge=True, protocol="v1.5"),
        steps(
            """
            0   QUOTED
            30  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            50  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {
                0: {"intent.edgeStatus": "PENDING"},
                30: {"intent.edgeStatus": "DEPOSITED"},
                50: {"intent.edgeStatus": "FILLED"},
            },
        ),
        worst=Moment(30),
    ),
)
