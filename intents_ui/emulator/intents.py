"""Builds the documents of intents, receipts with their transactions, and history entries."""

from typing import Any, Final

from intents_ui.emulator import calldata, names
from intents_ui.emulator.catalog import PRICE_SCALE, PROVIDERS, Catalogue, Token
from intents_ui.emulator.documents import Document, stamp
from intents_ui.emulator.names import Role
from intents_ui.emulator.scenario_engine import ARRIVED, LEGS, OWN, PLACEHOLDER, Leg, Scene
from intents_ui.emulator.transfers import Gas, Terms, Transfer, terms_of, usd

OTHER_DURATION: Final = 8


def intent(transfer: Transfer, scene: Scene, catalogue: Catalogue) -> Document:
    """Return the Intent document of a transfer. For a same-chain transfer, the destination fields are null."""
    terms = terms_of(transfer, catalogue)
    crossing = not transfer.same_chain
    origin_calls = calldata.origin_calls(transfer, terms)
    destination_calls = calldata.destination_calls(transfer, terms) if crossing else []
    document = {
        "id": transfer.born,
        "projectId": transfer.project,
        "intentId": transfer.intent_id,
        "status": scene.status,
        "quoteRequest": _quote_request(transfer),
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "destinationChainId": transfer.destination.chain_id,
        "originIntentAddress": transfer.origin_address,
        "destinationIntentAddress": transfer.destination_address,
        "salt": str(int.from_bytes(names.noise(transfer.number, "salt"))),
        "depositTransaction": _deposit(transfer, terms),
        "originCalls": _calls(transfer, terms, transfer.origin.chain_id, origin_calls),
        "originPrecondition": precondition(transfer, terms, "origin"),
        "originMetaTxn": meta_txn(transfer, "origin", origin_calls),
        "quote": _quote(transfer, terms),
        "fees": _fees(transfer, terms),
        "serviceVersion": "1.5.2" if transfer.deal.protocol == "v1.5" else "1.4.0",
        "serviceContracts": {
            "serviceIntentEntrypointAddress": names.stranger("entrypoint"),
            "serviceRouterAddress": names.stranger("router"),
            "serviceRouterShimAddress": names.stranger("router shim"),
        },
        "expiresAt": stamp(transfer.expires),
        "passthrough": False,
        "destinationCalls": _calls(transfer, terms, transfer.destination.chain_id, destination_calls)
        if crossing
        else None,
        "destinationPrecondition": precondition(transfer, terms, "destination") if crossing else None,
        "destinationMetaTxn": meta_txn(transfer, "destination", destination_calls) if crossing else None,
        "intentProtocol": transfer.deal.protocol,
        "updatedAt": stamp(transfer.moment(scene.updated)),
        "createdAt": stamp(transfer.born),
    }
    return document | _edge_fields(transfer, scene) if transfer.deal.edge else document


def precondition(transfer: Transfer, terms: Terms, leg: str) -> Document:
    """Return the balance that the intent address must have before the calls of a chain."""
    is_origin = leg == "origin"
    token = transfer.origin if is_origin else transfer.destination
    return {
        "type": "tokenMinBalance",
        "chainId": token.chain_id,
        "ownerAddress": transfer.origin_address if is_origin else transfer.destination_address,
        "tokenAddress": token.address,
        "minAmount": str(terms.from_amount if is_origin else terms.to_minimum),
    }


def meta_txn_id(transfer: Transfer, leg: str) -> str:
    return names.noise(transfer.number, f"meta {leg}").hex()


def meta_txn(transfer: Transfer, leg: str, calls: list[tuple[str, str, int]]) -> Document:
    side = transfer.origin if leg == "origin" else transfer.destination
    wallet = transfer.origin_address if leg == "origin" else transfer.destination_address
    return {
        "id": meta_txn_id(transfer, leg),
        "chainId": side.chain_id,
        "walletAddress": wallet,
        "contract": wallet,
        "input": calldata.meta_input(calls, names.noise(transfer.number, f"signature {leg}", 64)),
        "bridgeGas": str(0),
    }


def _quote_request(transfer: Transfer) -> Document:
    deal = transfer.deal
    exact_output = deal.exact_output
    return {
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "originTokenAddress": transfer.origin.address,
        "destinationChainId": transfer.destination.chain_id,
        "destinationTokenAddress": transfer.destination.address,
        "destinationToAddress": transfer.recipient,
        "destinationApproveAddress": transfer.recipient if deal.calls else "",
        "destinationCallData": transfer.call_data,
        "destinationCallValue": str(transfer.call_value),
        "originTokenAmount": str(0 if exact_output else transfer.from_amount or 0),
        "destinationTokenAmount": str(transfer.to_amount or 0 if exact_output else 0),
        "tradeType": "EXACT_OUTPUT" if exact_output else "EXACT_INPUT",
        "fundMethod": deal.fund_method,
        "onlyNativeGasFee": False,
        "options": {
            "intentProtocol": deal.protocol,
            "swapProvider": "AUTO",
            "bridgeProvider": "AUTO",
            "swapProviderFallback": True,
            "bridgeProviderFallback": True,
            "preference": "RECOMMENDED",
            "slippageTolerance": transfer.slippage,
            "serviceAddressOverrides": {
                "smartWalletFactoryAddress": names.stranger("factory"),
                "smartWalletMainModuleAddress": names.stranger("main module"),
                "smartWalletMainModuleUpgradableAddress": names.stranger("upgradable module"),
                "smartWalletGuestModuleAddress": names.stranger("guest module"),
                "smartWalletUtilsAddress": names.stranger("utils"),
            },
        },
    }


def _deposit(transfer: Transfer, terms: Terms) -> Document:
    to, data, value = calldata.deposit_call(transfer, terms)
    return {
        "toAddress": transfer.origin_address,
        "tokenAddress": transfer.origin.address,
        "amount": str(terms.from_amount),
        "chainId": transfer.origin.chain_id,
        "to": to,
        "data": data,
        "value": str(value),
        "decimals": transfer.origin.decimals,
    }


def _calls(transfer: Transfer, terms: Terms, chain_id: int, calls: list[tuple[str, str, int]]) -> Document:
    token, units = (
        (transfer.origin.address, terms.from_amount)
        if chain_id == transfer.origin.chain_id
        else (transfer.destination.address, terms.to_minimum)
    )
    gas_limit = 160_000
    return {
        "chainId": chain_id,
        "calls": [
            *(_call(*call, gas_limit=gas_limit, fallback=False) for call in calls),
            _call(*calldata.fallback_call(transfer, token, units), gas_limit=gas_limit, fallback=True),
        ],
        "space": str(int.from_bytes(names.noise(transfer.number, f"space {chain_id}", 20))),
        "nonce": str(0),
    }


def _call(to: str, data: str, value: int, *, gas_limit: int, fallback: bool) -> Document:
    return {
        "to": to,
        "value": str(value),
        "data": data,
        "gasLimit": str(gas_limit),
        # Only the wallet's own helper contract runs as a delegate call. Other contracts are called normally.
        "delegateCall": fallback,
        "onlyFallback": fallback,
        "behaviorOnError": 0 if fallback else 2,
    }


def _quote(transfer: Transfer, terms: Terms) -> Document:
    providers = transfer.deal.providers
    return {
        "routeProviders": list(providers),
        "routeProvidersRequestIds": [
            "0x" + names.noise(transfer.number, f"request {provider}").hex() for provider in providers
        ],
        "routeProvidersFeeUsd": [fee.usd for fee in terms.providers],
        "fromAmount": str(terms.from_amount),
        "fromAmountMin": str(terms.from_amount),
        "fromAmountUsd": terms.from_usd,
        "fromAmountMinUsd": terms.from_usd,
        "toAmount": str(terms.to_amount),
        "toAmountMin": str(terms.to_minimum),
        "toAmountUsd": terms.to_usd,
        "toAmountMinUsd": usd(terms.to_minimum, transfer.destination),
        "maxSlippage": transfer.slippage,
        "priceImpact": _percent(terms.loss_usd, terms),
        "priceImpactUsd": terms.loss_usd,
        "priceImpactDetails": _impact_details(terms),
        "estimatedDuration": estimated_duration(transfer),
    }


def estimated_duration(transfer: Transfer) -> int:
    """Return the estimated duration in seconds."""
    if transfer.deal.duration is not None:
        return transfer.deal.duration
    return sum(PROVIDERS.get(provider, {}).get("seconds", OTHER_DURATION) for provider in transfer.deal.providers)


def _impact_details(terms: Terms) -> Document:
    service = terms.service + terms.collector
    parts = {
        "executionPriceImpact": terms.gas.usd,
        "marketPriceImpact": round(terms.loss_usd - terms.total.usd, 6),  # what no fee explains
        "providerFeesPriceImpact": terms.provider.usd,
        "serviceFeesPriceImpact": service.usd,
        "netPriceImpact": terms.loss_usd,
    }
    return {name: {"priceImpact": _percent(loss, terms), "priceImpactUsd": loss} for name, loss in parts.items()}


def _percent(loss: float, terms: Terms) -> float:
    return round(100 * loss / terms.from_usd, 4) if terms.from_usd else 0.0


def _fees(transfer: Transfer, terms: Terms) -> Document:
    provider, service, total = terms.provider, terms.service, terms.total
    both = provider + service
    return {
        "originGas": gas_fee(transfer, terms.origin_gas, "origin"),
        "destinationGas": gas_fee(transfer, terms.destination_gas, "destination") if terms.destination_gas else None,
        "provider": {
            "quoteProvider": transfer.deal.providers[-1],
            "quoteProviderFee": str(provider.amount),
            "quoteProviderFeeUsd": provider.usd,
            "serviceFee": str(service.amount),
            "serviceFeeUsd": service.usd,
            "quoteProviderWithServiceFee": str(both.amount),
            "providerWithServiceFeeUsd": both.usd,
            "totalFeeAmount": str(both.amount),
            "totalFeeUsd": both.usd,
        },
        "feeTokenAddress": transfer.origin.address,
        "feeTokenAmount": str(total.amount),
        "feeTokenUsd": total.usd,
        "feeTokenTotal": str(total.amount),
        "gasFeeTotal": str(terms.gas.amount),
        "gasFeeUsd": terms.gas.usd,
        "serviceFeeTotal": str(service.amount),
        "serviceFeeUsd": service.usd,
        "collectorFeeTotal": str(terms.collector.amount),
        "collectorFeeUsd": terms.collector.usd,
        "providerFeeTotal": str(provider.amount),
        "providerFeeUsd": provider.usd,
        "totalFeeAmount": str(total.amount),
        "totalFeeUsd": total.usd,
    }


def gas_fee(transfer: Transfer, gas: Gas, leg: str) -> Document:
    return {
        "chainId": gas.chain_id,
        "totalGasLimit": str(gas.limit),
        "gasPrice": str(gas.price),
        "nativeTokenSymbol": gas.native_symbol,
        "chainGasUsageStatus": gas.usage,
        "totalFeeAmount": str(gas.cost),
        "totalFeeUsd": f"{gas.fee.usd:.6f}",
        "metaTxnFeeDetails": {
            "metaTxnId": meta_txn_id(transfer, leg),
            "estimatedGasLimit": str(gas.limit),
            "feeNative": str(gas.cost),
        },
        "metaTxnGasQuote": "0x" + names.noise(transfer.number, f"gas quote {leg}").hex(),
        "nativeTokenPriceUsd": gas.native_price / PRICE_SCALE,
    }


def _edge_fields(transfer: Transfer, scene: Scene) -> dict[str, Any]:
    return {
        "mode": "FUND",
        "isTestnet": False,
        "originTokenAddress": transfer.origin.address,
        "destinationTokenAddress": transfer.destination.address,
        "statusUpdatedAt": stamp(transfer.moment(scene.at)),
        "timedRefundUnlockTimestamp": transfer.born // 1_000_000 + 86_400,
        "edge": {
            "edgeChain": "solana",
            "edgeStatus": scene.marks["intent.edgeStatus"],
            "edgeDepositAddress": names.base58_of(Role.ORIGIN_ADDRESS, transfer.number),
        },
    }


_NO_LIMIT: Final = 2**256 - 1
_PLACEHOLDERS: Final = ("0x" + "0" * 64, "0x" + "f" * 64)


def receipt(transfer: Transfer, scene: Scene, catalogue: Catalogue) -> Document:
    """Return the receipt at this moment. Before the execution it has a summary and no transactions."""
    terms = terms_of(transfer, catalogue)
    transactions = {
        name: transaction(transfer, scene, terms, name, leg) if leg else None
        for name, leg in zip(LEGS, scene.legs, strict=True)
    }
    document: Document = {
        "id": transfer.born,
        "projectId": transfer.project,
        "intentId": transfer.intent_id,
        "status": scene.status,
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "destinationChainId": transfer.destination.chain_id,
    }
    for name, made in transactions.items():
        if made:
            document[f"{name}TransactionId"] = made["id"]
        document[f"{name}Transaction"] = made
    document["summary"] = summary(transfer, scene, terms)
    document["updatedAt"] = stamp(transfer.moment(scene.updated))
    # A receipt is created with the execution, its intent with the quote.
    document["createdAt"] = stamp(transfer.moment(scene.started or 0.0))
    if transfer.deal.edge:
        document |= {"statusUpdatedAt": stamp(transfer.moment(scene.at)), "mode": "FUND", "isTestnet": False}
    return document


def history_entry(transfer: Transfer, scene: Scene, catalogue: Catalogue) -> Document:
    return {
        "intentId": transfer.intent_id,
        "status": scene.status,
        "expiresAt": stamp(transfer.expires),
        "updatedAt": stamp(transfer.moment(scene.updated)),
        "createdAt": stamp(transfer.born),
        "receipt": receipt(transfer, scene, catalogue),
    }


def balances(transfer: Transfer, scene: Scene, catalogue: Catalogue) -> list[Document]:
    """Return the balances of the intent addresses (BalanceGroup[])."""
    held = scene.marks.get("balance")
    if not held:
        return []
    token, address, units = _balance(transfer, held, terms_of(transfer, catalogue))
    return [
        {
            "intentAddress": address,
            "chainId": token.chain_id,
            "tokens": [
                {
                    "contractAddress": token.address,
                    "balance": str(units),
                    "balanceUsd": f"{usd(units, token):.6f}",
                    "priceUsd": f"{usd(token.scale, token):.6f}",
                    "decimals": token.decimals,
                    "chainId": token.chain_id,
                    "symbol": token.symbol,
                }
            ],
        }
    ]


def summary(transfer: Transfer, scene: Scene, terms: Terms) -> Document:
    """Return the summary.

    The output is null until delivery, except for exact output, where it is known from the start.
    """
    deal, last = transfer.deal, scene.legs[1 if transfer.same_chain else 2]
    arrived = deal.exact_output or (last is not None and last.status in ARRIVED)
    document = {
        "intentId": transfer.intent_id,
        "status": scene.status,
        "ownerAddress": transfer.owner,
        "originChainId": transfer.origin.chain_id,
        "destinationChainId": transfer.destination.chain_id,
        "tradeType": "EXACT_OUTPUT" if deal.exact_output else "EXACT_INPUT",
        "routeProviders": list(deal.providers),
        "originIntentAddress": transfer.origin_address,
        "originTokenAddress": transfer.origin.address,
        "originTokenAmount": str(terms.from_amount),
        "originTokenMetadata": transfer.origin.as_metadata(),
        "destinationIntentAddress": transfer.destination_address,
        "destinationTokenMetadata": transfer.destination.as_metadata() if arrived else None,
        "destinationHasCallData": transfer.call_data != "0x",
        "destinationHasCallValue": transfer.call_value > 0,
        "createdAt": stamp(transfer.born),
        "expiresAt": stamp(transfer.expires),
        "destinationTokenAddress": transfer.destination.address if arrived else None,
        "destinationTokenAmount": str(terms.to_amount) if arrived else None,
        "destinationToAddress": transfer.recipient if arrived else None,
        "memo": deal.memo,
        "startedAt": None if scene.started is None else stamp(transfer.moment(scene.started)),
        "finishedAt": None if scene.finished is None else stamp(transfer.moment(scene.finished)),
    }
    changes = {key.removeprefix("summary."): value for key, value in scene.marks.items() if key.startswith("summary.")}
    return document | changes


def transaction(transfer: Transfer, scene: Scene, terms: Terms, name: str, leg: Leg) -> Document:
    """Return one IntentTransaction. Fields without a value yet are null or absent, as in the real service."""
    token, units, sender, receiver, data = _sides(transfer, terms, name, scene)
    document: dict[str, Any] = {
        "id": transfer.moment(leg.born) + LEGS.index(name),
        "intentId": transfer.intent_id,
        "status": leg.status,
        "chainId": token.chain_id,
        "type": leg.marks.get("type", name.upper()),
        "context": leg.marks.get("context", _context(transfer, name)),
        "fromAddress": sender,
        "toAddress": receiver,
        "tokenAddress": token.address,
        "tokenAmount": str(units),
        "statusReason": _reason(terms, leg),
        "bridgeGas": str(0),
        "calldata": data,
        "metaTxnFeeQuote": None,
        "precondition": precondition(transfer, terms, name) if name in ("origin", "destination") else None,
        "depositIntentEntry": None,
        "txnMinedAt": None if leg.mined is None else stamp(transfer.moment(leg.mined)),
        "updatedAt": stamp(transfer.moment(leg.updated)),
        "createdAt": stamp(transfer.moment(leg.born)),
    }
    gasless = name == "deposit" and transfer.deal.deposit == "gasless"
    if gasless:
        document["depositIntentEntry"] = _deposit_entry(transfer, terms)
        document["metaTxnFeeQuote"] = "0x" + names.noise(transfer.number, "fee quote deposit").hex()
    if gasless or (name != "deposit" and leg.sent):
        document["metaTxnId"] = meta_txn_id(transfer, name)
    hash_now = transaction_hash(transfer, name, leg)
    if hash_now is not None:
        document["txnHash"] = hash_now
    if transfer.deal.edge:
        document |= {"statusUpdatedAt": document["updatedAt"], "eligibleAt": document["createdAt"]}
    return document


def transaction_hash(transfer: Transfer, name: str, leg: Leg) -> str | None:
    """Return the hash if known: at once for a wallet's deposit, when sent for a relayed transaction."""
    given = leg.marks.get("txnHash", OWN)
    if given == PLACEHOLDER:
        return _PLACEHOLDERS[transfer.number // 64 % 2]
    if given != OWN:
        return str(given)
    announced = name == "deposit" and transfer.deal.deposit == "wallet"
    if not (leg.published or announced):
        return None
    attempt = leg.marks.get("attempt", 0)
    if transfer.deal.edge and name == "deposit":
        return names.base58_of(Role[name.upper()], transfer.number, attempt, size=names.SIGNATURE_BYTES)
    return names.hash_of(Role[name.upper()], transfer.number, attempt)


def _sides(transfer: Transfer, terms: Terms, name: str, scene: Scene) -> tuple[Token, int, str, str, str]:
    """Return token, amount, sender, receiver and calldata of a transaction."""
    origin, destination = transfer.origin, transfer.destination
    if name == "deposit":
        _, data, _ = calldata.deposit_call(transfer, terms)
        payer = names.base58_of(Role.OWNER, transfer.number) if transfer.deal.edge else transfer.owner
        return origin, terms.from_amount, payer, transfer.origin_address, data
    if name == "origin":
        data = meta_txn(transfer, name, calldata.origin_calls(transfer, terms))["input"]
        target = calldata.provider_contract(transfer.deal.providers[0])
        return origin, terms.from_amount, transfer.origin_address, target, data
    if name == "destination":
        data = meta_txn(transfer, name, calldata.destination_calls(transfer, terms))["input"]
        return destination, terms.to_amount, transfer.destination_address, transfer.recipient, data
    crossed = scene.legs[1] is not None and scene.legs[1].status in ARRIVED and not transfer.same_chain
    token, sender = (destination, transfer.destination_address) if crossed else (origin, transfer.origin_address)
    whole = terms.to_amount if crossed else terms.from_amount
    gas = terms.gas.micro_usd * token.scale // token.price if token.price else 0
    returned = max(whole * 99 // 100, whole - gas)
    _, data, _ = calldata.fallback_call(transfer, token.address, returned)
    return token, returned, sender, transfer.owner, data


def _context(transfer: Transfer, name: str) -> str:
    bridge = transfer.deal.providers[-1]
    if name == "destination":
        return str(PROVIDERS.get(bridge, {}).get("context", "NONE"))
    return "HYPERLANE_PAY_FOR_GAS" if name == "origin" and bridge == "HYPERLANE" else "NONE"


def _reason(terms: Terms, leg: Leg) -> str | None:
    reason: str | None = leg.marks.get("statusReason")
    if reason and "{balance}" in reason:
        return reason.format(balance=terms.to_minimum * 79_712_345 // 79_800_000, minimum=terms.to_minimum)
    return reason


def _balance(transfer: Transfer, held: tuple[str, int, int], terms: Terms) -> tuple[Token, str, int]:
    side, share, whole = held
    if side == "origin":
        return transfer.origin, transfer.origin_address, terms.from_amount * share // whole
    return transfer.destination, transfer.destination_address, terms.to_minimum * share // whole


def _deposit_entry(transfer: Transfer, terms: Terms) -> Document:
    deadline = transfer.expires // 1_000_000
    return {
        "intentSignature": "0x" + names.noise(transfer.number, "intent signature", 64).hex() + "1b",
        "feeAmount": str(terms.origin_gas.fee.amount),
        "feeToken": transfer.origin.address,
        "feeCollector": names.stranger("fee collector"),
        "userNonce": names.noise(transfer.number, "nonce", 1)[0],
        "deadline": deadline,
        "permitSignature": "0x" + names.noise(transfer.number, "permit signature", 64).hex() + "1c",
        "permitDeadline": deadline,
        "permitAmount": str(_NO_LIMIT),
    }
