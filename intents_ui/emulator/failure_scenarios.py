"""Scenarios in which the funds don't arrive, or not yet. Times are seconds after the quote."""

from typing import Final

from intents_ui.emulator.quote_requests import Deal
from intents_ui.emulator.scenario_engine import OWN, PLACEHOLDER, Moment, Scenario, steps

ETHEREUM, BASE, ARBITRUM, OPTIMISM, POLYGON, KATANA = 1, 8453, 42161, 10, 137, 747474
FAKE_USDC: Final = "0xef5753e624bb76c4daf0c837eff7ec1239cc8e7f"

TROUBLES: Final = (
    Scenario(
        5,
        "expired-quote",
        "Quote expired without a deposit",
        "No deposit was sent in time. The service still reports the quote as open, but it can no longer be used.",
        "Base 40 USDC → Optimism USDC",
        Deal((BASE, "USDC"), (OPTIMISM, "USDC"), ("RELAY",), "40"),
        # The server does nothing when expiresAt passes. The second line marks the end of this scenario.
        steps("""
            0    QUOTED
            301  QUOTED
        """),
        worst=Moment(301),
        weight=60,
    ),
    Scenario(
        6,
        "committed-not-executed",
        "Accepted, but not started in time",
        "An accepted quote expires too. If the deposit isn't started within 10 minutes, the owner needs a new quote.",
        "Arbitrum 0.5 ETH → Base ETH",
        Deal((ARBITRUM, "ETH"), (BASE, "ETH"), ("RELAY",), "0.5"),
        steps("""
            0    QUOTED
            9    COMMITTED
            609  COMMITTED
        """),
        worst=Moment(609),
        variants={
            "B": steps("""
                0    QUOTED
                9    COMMITTED
                609  COMMITTED
                610  INVALID
            """)
        },
        weight=20,
    ),
    Scenario(
        7,
        "deposit-never-seen",
        "Deposit never seen",
        "The service waits for a deposit and none comes. Check the wallet before requesting a new quote.",
        "Polygon 75 USDC → Base USDC",
        Deal((POLYGON, "USDC"), (BASE, "USDC"), ("CCTP",), "75", deposit="watched"),
        steps(
            """
            0    QUOTED
            12   EXECUTING  PENDING  ON_HOLD  ON_HOLD
            912  EXECUTING  ABORTED  ABORTED  ABORTED
            913  ABORTED    ABORTED  ABORTED  ABORTED
            """,
            {
                12: {"deposit.txnHash": PLACEHOLDER},
                912: {
                    "deposit.statusReason": "deposit not received before the intent expired",
                    "origin.statusReason": "aborted: deposit transaction not confirmed",
                    "destination.statusReason": "aborted: deposit transaction not confirmed",
                },
            },
        ),
        worst=Moment(301),
        weight=10,
    ),
    Scenario(
        8,
        "refunded-on-origin",
        "Origin transaction reverted, then refunded",
        "The transfer failed on the origin chain. The refund is a transaction of its own, with its own link.",
        "Base 300 USDC → Arbitrum USDC",
        Deal((BASE, "USDC"), (ARBITRUM, "USDC"), ("LIFI",), "300", protocol="v1.5"),
        steps(
            """
            0   QUOTED
            6   COMMITTED
            24  EXECUTING  SUCCEEDED  PENDING   ON_HOLD
            27  EXECUTING  SUCCEEDED  MINING    ON_HOLD
            30  EXECUTING  SUCCEEDED  REVERTED  ABORTED
            31  FAILED     SUCCEEDED  REVERTED  ABORTED  PENDING
            40  FAILED     SUCCEEDED  REVERTED  ABORTED  MINING
            44  REFUNDED   SUCCEEDED  REVERTED  ABORTED  SUCCEEDED
            """,
            {
                30: {
                    "origin.statusReason": "execution reverted: INSUFFICIENT_OUTPUT_AMOUNT",
                    "destination.statusReason": "aborted: origin transaction failed",
                }
            },
        ),
        worst=Moment(31),
        weight=12,
    ),
    Scenario(
        9,
        "refunded-inside",
        "Refunded inside the failed transaction",
        "The failed transaction also refunded the owner. There is no separate refund transaction to look for.",
        "Base 120 USDC → ETH (Base)",
        Deal((BASE, "USDC"), (BASE, "ETH"), ("SUSHI",), "120"),
        steps(
            """
            0   QUOTED
            8   COMMITTED
            26  EXECUTING  SUCCEEDED  MINING
            30  REFUNDED   SUCCEEDED  FAILED
            """,
            {30: {"origin.statusReason": "call failed; refunded to owner in the same transaction"}},
        ),
        worst=Moment(30),
        variants={
            "B": steps("""
                0   QUOTED
                8   COMMITTED
                26  EXECUTING  SUCCEEDED  MINING
                30  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """),
            "C": steps(
                """
                0   QUOTED
                8   COMMITTED
                26  EXECUTING  SUCCEEDED  MINING
                30  FAILED     SUCCEEDED  FAILED
                """,
                {30: {"origin.statusReason": "call failed; refunded to owner in the same transaction"}},
            ),
        },
        weight=6,
    ),
    Scenario(
        10,
        "refunded-on-destination",
        "Refunded on the destination chain",
        "The last step failed after bridging. The refund is on the destination chain, possibly as a different token.",
        "Arbitrum 500 USDC → Base vault deposit",
        Deal((ARBITRUM, "USDC"), (BASE, "USDC"), ("RELAY",), "500", payee="vault", calls=True),
        steps(
            """
            0   QUOTED
            6   COMMITTED
            24  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            38  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
            42  FAILED     SUCCEEDED  SUCCEEDED  FAILED   PENDING
            50  REFUNDED   SUCCEEDED  SUCCEEDED  FAILED   SUCCEEDED
            """,
            {42: {"destination.statusReason": "TargetCallFailed: vault paused"}},
        ),
        worst=Moment(42),
        weight=6,
    ),
    Scenario(
        11,
        "stuck-recoverable",
        "Failed, with funds to recover",
        "No automatic refund happened. The balance at the destination intent address shows where the funds are.",
        "Optimism 80 USDC → Polygon USDC.e",
        Deal((OPTIMISM, "USDC"), (POLYGON, "USDC.e"), ("LIFI",), "80", receive="79.83", minimum="79.8"),
        steps(
            """
            0     QUOTED
            7     COMMITTED
            25    EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            200   EXECUTING  SUCCEEDED  SUCCEEDED  ERRORED
            900   FAILED     SUCCEEDED  SUCCEEDED  FAILED
            7200  FAILED     SUCCEEDED  SUCCEEDED  FAILED
            """,
            {
                200: {"destination.statusReason": "precondition not met: balance {balance} < {minimum}"},
                900: {"destination.mined": False, "balance": ("destination", 79_712_345, 79_800_000)},
                7200: {"balance": None},
            },
        ),
        worst=Moment(900),
        weight=5,
    ),
    Scenario(
        12,
        "aborted-by-owner",
        "Aborted by the owner",
        "The owner stopped the transfer after the deposit. The funds are most likely in the owner's wallet.",
        "Ethereum 1 ETH → Base ETH",
        Deal((ETHEREUM, "ETH"), (BASE, "ETH"), ("RELAY",), "1"),
        steps(
            """
            0    QUOTED
            15   COMMITTED
            60   EXECUTING  SUCCEEDED  PENDING  ON_HOLD
            400  ABORTED    SUCCEEDED  ABORTED  ABORTED
            """,
            {400: {"origin.statusReason": "aborted by owner"}},
        ),
        worst=Moment(400),
        weight=4,
    ),
    Scenario(
        13,
        "aborted-by-timeout",
        "Aborted by timeout, with funds to recover",
        "The origin transaction wasn't sent in time. The owner's wallet can recover the funds at the deposit address.",
        "Polygon 30 USDT → Arbitrum USDT",
        Deal((POLYGON, "USDT"), (ARBITRUM, "USDT"), ("LZ_OFT",), "30"),
        steps(
            """
            0    QUOTED
            6    COMMITTED
            24   EXECUTING  SUCCEEDED  PENDING  ON_HOLD
            30   EXECUTING  SUCCEEDED  ERRORED  ON_HOLD
            630  ABORTED    SUCCEEDED  ABORTED  ABORTED
            """,
            {
                30: {"origin.statusReason": "relayer: estimation failed, will retry"},
                630: {"origin.statusReason": "aborted: not sent within 10m0s", "balance": ("origin", 1, 1)},
            },
        ),
        worst=Moment(630),
        weight=5,
    ),
    Scenario(
        14,
        "invalid-then-repaired",
        "Deposit rejected, then repaired",
        "A status that looks final can change. Support can retry the transfer with the confirmed deposit transaction.",
        "Base 60 USDC → Polygon USDC",
        Deal((BASE, "USDC"), (POLYGON, "USDC"), ("CCTP",), "60"),
        steps(
            """
            0     QUOTED
            5     COMMITTED
            20    EXECUTING  PENDING    ON_HOLD    ON_HOLD
            80    INVALID    FAILED     ABORTED    ABORTED
            1800  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
            1830  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {
                80: {
                    "deposit.mined": False,
                    "deposit.statusReason": "deposit transaction not found",
                    "origin.statusReason": "aborted: deposit transaction failed",
                    "destination.statusReason": "aborted: deposit transaction failed",
                },
                1800: {
                    "deposit.txnHash": OWN,
                    "deposit.attempt": 1,
                    "deposit.statusReason": None,
                    "origin.statusReason": None,
                    "destination.statusReason": None,
                },
            },
        ),
        worst=Moment(80),
        weight=3,
    ),
    Scenario(
        18,
        "spoof-token",
        "Fake USDC",
        "A token can copy the symbol USDC. Its address tells it apart from the real one.",
        'Base 1,000 "USDC" (fake) → Base ETH',
        Deal((BASE, FAKE_USDC), (BASE, "ETH"), ("SUSHI",), "1000", receive="0.00001", free=True),
        steps(
            """
            0   QUOTED
            8   COMMITTED
            26  FAILED  SUCCEEDED  FAILED
            """,
            {26: {"origin.statusReason": "no liquidity"}},
        ),
        worst=Moment(26),
    ),
    Scenario(
        22,
        "failed-but-arrived",
        "Reported as failed, but delivered",
        "The status and the transactions conflict. Check the recipient's wallet before treating it as failed.",
        "Ethereum 900 USDC → Arbitrum USDC",
        Deal((ETHEREUM, "USDC"), (ARBITRUM, "USDC"), ("CCTP",), "900"),
        steps(
            """
            0    QUOTED
            60   EXECUTING  SUCCEEDED  SUCCEEDED  MINING
            63   FAILED     SUCCEEDED  SUCCEEDED  SUCCEEDED
            180  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
            """,
            {63: {"destination.statusReason": "deadline exceeded"}},
        ),
        worst=Moment(63),
        variants={
            "B": steps(
                """
                0   QUOTED
                60  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
                63  FAILED     SUCCEEDED  SUCCEEDED  SUCCEEDED
                """,
                {63: {"destination.statusReason": "deadline exceeded"}},
            )
        },
        weight=3,
    ),
    Scenario(
        23,
        "stalled-in-bridge",
        "Stalled in the bridge",
        "There is no progress for hours and nothing at either intent address. The funds are with the bridge provider.",
        "Polygon 2,000 USDT → Katana USDT",
        Deal((POLYGON, "USDT"), (KATANA, "USDT"), ("LZ_OFT",), "2000", duration=900),
        # Still held at 14,400 s, the worst moment. In A the bridge delivers right after.
        steps("""
            0      QUOTED
            30     EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            14410  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
            14414  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
        """),
        worst=Moment(14_400),
        variants={
            "B": steps("""
                0   QUOTED
                30  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
            """)
        },
        weight=3,
    ),
    Scenario(
        25,
        "refund-failed",
        "Refund failed",
        "The transfer and its refund both failed. The owner's wallet can recover the funds from the deposit address.",
        "Optimism 150 USDC → Base USDC",
        Deal((OPTIMISM, "USDC"), (BASE, "USDC"), ("LIFI",), "150", protocol="v1.5"),
        steps(
            """
            0   QUOTED
            30  EXECUTING  SUCCEEDED  FAILED  ABORTED
            40  FAILED     SUCCEEDED  FAILED  ABORTED  PENDING
            70  FAILED     SUCCEEDED  FAILED  ABORTED  FAILED
            """,
            {
                30: {
                    "origin.statusReason": "execution reverted",
                    "destination.statusReason": "aborted: origin transaction failed",
                },
                70: {"refund.statusReason": "refund reverted: token paused", "balance": ("origin", 1, 1)},
            },
        ),
        worst=Moment(70),
        weight=2,
    ),
    Scenario(
        27,
        "underfunded",
        "Underfunded deposit",
        "A withdrawal fee left the deposit 0.50 USDC short. The owner's wallet can recover the deposit.",
        "Arbitrum 99.5 of 100 USDC → Base USDC",
        Deal((ARBITRUM, "USDC"), (BASE, "USDC"), ("RELAY",), "100", deposit="watched", fund_method="DIRECT_TRANSFER"),
        steps(
            """
            0    QUOTED
            60   EXECUTING  PENDING  ON_HOLD  ON_HOLD
            960  ABORTED    FAILED   ABORTED  ABORTED
            """,
            {
                60: {"deposit.txnHash": PLACEHOLDER, "balance": ("origin", 995, 1000)},
                960: {
                    "deposit.mined": False,
                    "deposit.statusReason": "deposit below required minimum",
                    "origin.statusReason": "aborted: deposit transaction not confirmed",
                    "destination.statusReason": "aborted: deposit transaction not confirmed",
                },
            },
        ),
        worst=Moment(960),
        weight=3,
    ),
    Scenario(
        28,
        "deposit-reverted",
        "Deposit reverted",
        "The deposit was mined but reverted. The owner's wallet lost the network fee at most.",
        "Ethereum 700 DAI → Base USDC",
        Deal((ETHEREUM, "DAI"), (BASE, "USDC"), ("ZEROX", "CCTP"), "700"),
        steps(
            """
            0   QUOTED
            40  EXECUTING  MINING    ON_HOLD  ON_HOLD
            56  EXECUTING  REVERTED  ON_HOLD  ON_HOLD
            57  FAILED     REVERTED  ABORTED  ABORTED
            """,
            {
                56: {"deposit.statusReason": "deposit reverted"},
                57: {
                    "origin.statusReason": "aborted: deposit transaction failed",
                    "destination.statusReason": "aborted: deposit transaction failed",
                },
            },
        ),
        worst=Moment(57),
        weight=5,
    ),
)
