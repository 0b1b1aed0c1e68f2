"""Response times of the emulator: `python -m tests.emulator.bench [size]`."""

import sys
import time
from collections import Counter

from intents_ui.emulator import Emulator
from tests.emulator.driving import NOW, Clock, request

ROUNDS = 5
LAST_MONTH = int(NOW) - 30 * 86_400


def main(size: int) -> None:
    began = time.perf_counter()
    emulator = Emulator(now=Clock(), size=size)
    print(f"start with {size} intents: {1000 * (time.perf_counter() - began):.1f} ms")
    owners = Counter(entry.transfer.owner for entry in emulator.ledger.entries(round(NOW * 1e6), descending=True))
    intent = emulator.finished("cross-chain-fast")
    receipt = request(emulator, "GetIntentReceipt", {"intentId": intent["intentId"]}).document["intentReceipt"]
    questions = {
        "page of 20": ("GetIntentHistory", {}),
        "page of 100": ("GetIntentHistory", {"page": {"pageSize": 100}}),
        "page, rare status": ("GetIntentHistory", {"byStatus": "INVALID"}),
        "page, recoverable": ("GetIntentHistory", {"onlyRecoverable": True, "includeBalances": True}),
        "page, one owner": ("GetIntentHistory", {"byOwnerAddress": intent["ownerAddress"]}),
        "page, a minute of last month": ("GetIntentHistory", {"fromTime": LAST_MONTH, "toTime": LAST_MONTH + 60}),
        "page, nothing in a week": ("GetIntentHistory", {"fromTime": int(NOW) - 7 * 86_400, "originChainId": 12345}),
        "intent": ("GetIntent", {"intentId": intent["intentId"]}),
        "receipt": ("GetIntentReceipt", {"intentId": intent["intentId"]}),
        "search, id": ("SearchIntents", {"byIntentId": intent["intentId"]}),
        "search, hash": ("SearchIntents", {"byTransactionHash": receipt["originTransaction"]["txnHash"]}),
        "search, unknown hash": ("SearchIntents", {"byQueryString": "0x" + "1" * 64}),
        "search, owner of one": ("SearchIntents", {"byOwnerAddress": owners.most_common()[-1][0]}),
        "search, busiest owner": ("SearchIntents", {"byOwnerAddress": owners.most_common(1)[0][0]}),
        "search, words": ("SearchIntents", {"byQueryString": "nothing like it"}),
    }
    for name, (operation, body) in questions.items():
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            answer = request(emulator, operation, body)
            times.append(1000 * (time.perf_counter() - began))
        print(f"{name:28} first {times[0]:7.1f} ms  then {min(times):7.1f} ms  {len(answer.body) / 1000:9.1f} kB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
