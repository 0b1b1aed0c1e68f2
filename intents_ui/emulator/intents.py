"""An intent at one moment, and its documents: intent, receipt with transactions, history entry and balances."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from intents_ui.emulator import calldata, names
from intents_ui.emulator.catalog import PRICE_SCALE, PROVIDERS, Token
from intents_ui.emulator.documents import Document, stamp
from intents_ui.emulator.names import Role
from intents_ui.emulator.scenario_engine import ARRIVED, LEGS, OWN, PLACEHOLDER, Leg, Scene
from intents_ui.emulator.transfers import Fee, Gas, Terms, Transfer, usd

OTHER_DURATION: Final = 8
_GAS_LIMIT: Final = 160_000
_NO_LIMIT: Final = 2**256 - 1
_PLACEHOLDERS: Final = ("0x" + "0" * 64, "0x" + "f" * 64)


@dataclass(frozen=True)
class Entry:
    """An intent at one moment."""

    transfer: Transfer
    scene: Scene

    @cached_property
    def terms(self) -> Terms:
        return Terms(self.transfer)

    def intent(self) -> Document:
        """Return the Intent. For a same-chain transfer, the destination fields are null."""
        transfer, scene, deal = self.transfer, self.scene, self.transfer.deal
        to, data, value = calldata.deposit_call(self.terms)
        document = self._head() | {
            "quoteRequest": self._quote_request(),
            "originIntentAddress": transfer.origin_address,
            "destinationIntentAddress": transfer.destination_address,
            "salt": str(int.from_bytes(names.noise(transfer.number, "salt"))),
            "depositTransaction": {
                "toAddress": transfer.origin_address,
                "tokenAddress": transfer.origin.address,
                "amount": str(self.terms.from_amount),
                "chainId": transfer.origin.chain_id,
                "to": to,
                "data": data,
                "value": str(value),
                "decimals": transfer.origin.decimals,
            },
            **self._chain_fields("origin"),
            "quote": self._quote(),
            "fees": self._fees(),
            "serviceVersion": "1.5.2" if deal.protocol == "v1.5" else "1.4.0",
            "serviceContracts": {
                "serviceIntentEntrypointAddress": names.stranger("entrypoint"),
                "serviceRouterAddress": names.stranger("router"),
                "serviceRouterShimAddress": names.stranger("router shim"),
            },
            "expiresAt": stamp(transfer.expires),
            "passthrough": False,
            **self._chain_fields("destination"),
            "intentProtocol": deal.protocol,
            "updatedAt": stamp(transfer.moment(scene.updated)),
            "createdAt": stamp(transfer.born),
        }
        if deal.edge:
            document |= self._edge_fields() | {
                "originTokenAddress": transfer.origin.address,
                "destinationTokenAddress": transfer.destination.address,
                "timedRefundUnlockTimestamp": transfer.born // 1_000_000 + 86_400,
                "edge": {
                    "edgeChain": "solana",
                    "edgeStatus": scene.marks["intent.edgeStatus"],
                    "edgeDepositAddress": names.base58_of(Role.ORIGIN_ADDRESS, transfer.number),
                },
            }
        return document

    def receipt(self) -> Document:
        """Return the receipt. Before the execution it has a summary and no transactions."""
        document = self._head()
        for name, leg in zip(LEGS, self.scene.legs, strict=True):
            made = document[f"{name}Transaction"] = self._transaction(name, leg) if leg else None
            if made:
                document[f"{name}TransactionId"] = made["id"]
        document["summary"] = self._summary()
        document["updatedAt"] = stamp(self.transfer.moment(self.scene.updated))
        # A receipt is created with the execution, its intent with the quote.
        document["createdAt"] = stamp(self.transfer.moment(self.scene.started or 0.0))
        return document | self._edge_fields() if self.transfer.deal.edge else document

    def history_row(self) -> Document:
        return {
            "intentId": self.transfer.intent_id,
            "status": self.scene.status,
            "expiresAt": stamp(self.transfer.expires),
            "updatedAt": stamp(self.transfer.moment(self.scene.updated)),
            "createdAt": stamp(self.transfer.born),
            "receipt": self.receipt(),
        }

    def balances(self) -> list[Document]:
        """Return the balances of the intent addresses (BalanceGroup[])."""
        if not (balance := self.scene.marks.get("balance")):
            return []
        side, share, whole = balance
        token, address, expected = self._side(side)
        units = expected * share // whole
        held = {
            "contractAddress": token.address,
            "balance": str(units),
            "balanceUsd": f"{usd(units, token):.6f}",
            "priceUsd": f"{usd(token.scale, token):.6f}",
            "decimals": token.decimals,
            "chainId": token.chain_id,
            "symbol": token.symbol,
        }
        return [{"intentAddress": address, "chainId": token.chain_id, "tokens": [held]}]

    def hashes(self) -> dict[str, str]:
        """Return the hashes of its transactions that are known, by leg."""
        legs = zip(LEGS, self.scene.legs, strict=True)
        found = ((name, leg and self._hash(name, leg)) for name, leg in legs)
        return {name: each for name, each in found if each}

    def _head(self) -> Document:
        """Return the fields that intents and receipts have in common."""
        return {
            "id": self.transfer.born,
            "projectId": self.transfer.project,
            "intentId": self.transfer.intent_id,
            "status": self.scene.status,
            "ownerAddress": self.transfer.owner,
            "originChainId": self.transfer.origin.chain_id,
            "destinationChainId": self.transfer.destination.chain_id,
        }

    def _edge_fields(self) -> Document:
        return {"mode": "FUND", "isTestnet": False, "statusUpdatedAt": stamp(self.transfer.moment(self.scene.at))}

    def _noise(self, label: str, size: int = 32) -> str:
        return "0x" + names.noise(self.transfer.number, label, size).hex()

    def _quote_request(self) -> Document:
        transfer, deal = self.transfer, self.transfer.deal
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
            "originTokenAmount": str(0 if deal.exact_output else transfer.from_amount or 0),
            "destinationTokenAmount": str(transfer.to_amount or 0 if deal.exact_output else 0),
            "tradeType": "EXACT_OUTPUT" if deal.exact_output else "EXACT_INPUT",
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

    def _side(self, side: str) -> tuple[Token, str, int]:
        """Return the token of a side, its intent address, and the amount that is expected there."""
        transfer = self.transfer
        if side == "origin":
            return transfer.origin, transfer.origin_address, self.terms.from_amount
        return transfer.destination, transfer.destination_address, self.terms.to_minimum

    def _chain_fields(self, side: str) -> Document:
        """Return the calls, precondition and meta transaction of a side."""
        if side == "destination" and self.transfer.same_chain:
            return dict.fromkeys(("destinationCalls", "destinationPrecondition", "destinationMetaTxn"))
        token, address, units = self._side(side)
        return {
            f"{side}Calls": {
                "chainId": token.chain_id,
                "calls": [
                    *(_call(*each, fallback=False) for each in calldata.calls(self.terms, side)),
                    _call(*calldata.fallback_call(self.transfer, token.address, units), fallback=True),
                ],
                "space": str(int.from_bytes(names.noise(self.transfer.number, f"space {token.chain_id}", 20))),
                "nonce": str(0),
            },
            f"{side}Precondition": self._precondition(side),
            f"{side}MetaTxn": {
                "id": self._meta_txn_id(side),
                "chainId": token.chain_id,
                "walletAddress": address,
                "contract": address,
                "input": self._meta_input(side),
                "bridgeGas": str(0),
            },
        }

    def _precondition(self, side: str) -> Document:
        """Return the balance that the intent address must have before the calls of a side."""
        token, address, units = self._side(side)
        return {
            "type": "tokenMinBalance",
            "chainId": token.chain_id,
            "ownerAddress": address,
            "tokenAddress": token.address,
            "minAmount": str(units),
        }

    def _meta_txn_id(self, leg: str) -> str:
        return names.noise(self.transfer.number, f"meta {leg}").hex()

    def _meta_input(self, side: str) -> str:
        signature = names.noise(self.transfer.number, f"signature {side}", 64)
        return calldata.meta_input(calldata.calls(self.terms, side), signature)

    def _quote(self) -> Document:
        terms, deal = self.terms, self.transfer.deal
        durations = [PROVIDERS.get(each, {}).get("seconds", OTHER_DURATION) for each in deal.providers]
        impacts = {
            "executionPriceImpact": terms.gas.usd,
            "marketPriceImpact": round(terms.loss_usd - terms.total.usd, 6),  # what no fee explains
            "providerFeesPriceImpact": terms.provider.usd,
            "serviceFeesPriceImpact": (terms.service + terms.collector).usd,
            "netPriceImpact": terms.loss_usd,
        }
        percents = {
            name: round(100 * loss / terms.from_usd, 4) if terms.from_usd else 0.0 for name, loss in impacts.items()
        }
        return {
            "routeProviders": list(deal.providers),
            "routeProvidersRequestIds": [self._noise(f"request {provider}") for provider in deal.providers],
            "routeProvidersFeeUsd": [fee.usd for fee in terms.providers],
            "fromAmount": str(terms.from_amount),
            "fromAmountMin": str(terms.from_amount),
            "fromAmountUsd": terms.from_usd,
            "fromAmountMinUsd": terms.from_usd,
            "toAmount": str(terms.to_amount),
            "toAmountMin": str(terms.to_minimum),
            "toAmountUsd": terms.to_usd,
            "toAmountMinUsd": usd(terms.to_minimum, self.transfer.destination),
            "maxSlippage": self.transfer.slippage,
            "priceImpact": percents["netPriceImpact"],
            "priceImpactUsd": terms.loss_usd,
            "priceImpactDetails": {
                name: {"priceImpact": percents[name], "priceImpactUsd": loss} for name, loss in impacts.items()
            },
            "estimatedDuration": sum(durations) if deal.duration is None else deal.duration,
        }

    def _fees(self) -> Document:
        terms = self.terms
        both = terms.provider + terms.service
        return {
            "originGas": self._gas_fee(terms.origin_gas, "origin"),
            "destinationGas": self._gas_fee(terms.destination_gas, "destination") if terms.destination_gas else None,
            "provider": {
                "quoteProvider": self.transfer.deal.providers[-1],
                **_amount("quoteProviderFee", "quoteProviderFee", terms.provider),
                **_amount("serviceFee", "serviceFee", terms.service),
                **_amount("quoteProviderWithServiceFee", "providerWithServiceFee", both),
                **_amount("totalFeeAmount", "totalFee", both),
            },
            "feeTokenAddress": self.transfer.origin.address,
            "feeTokenAmount": str(terms.total.amount),
            **_amount("feeTokenTotal", "feeToken", terms.total),
            **_amount("gasFeeTotal", "gasFee", terms.gas),
            **_amount("serviceFeeTotal", "serviceFee", terms.service),
            **_amount("collectorFeeTotal", "collectorFee", terms.collector),
            **_amount("providerFeeTotal", "providerFee", terms.provider),
            **_amount("totalFeeAmount", "totalFee", terms.total),
        }

    def _gas_fee(self, gas: Gas, side: str) -> Document:
        return {
            "chainId": gas.chain_id,
            "totalGasLimit": str(gas.limit),
            "gasPrice": str(gas.price),
            "nativeTokenSymbol": gas.native_symbol,
            "chainGasUsageStatus": gas.usage,
            "totalFeeAmount": str(gas.cost),
            "totalFeeUsd": f"{gas.fee.usd:.6f}",
            "metaTxnFeeDetails": {
                "metaTxnId": self._meta_txn_id(side),
                "estimatedGasLimit": str(gas.limit),
                "feeNative": str(gas.cost),
            },
            "metaTxnGasQuote": self._noise(f"gas quote {side}"),
            "nativeTokenPriceUsd": gas.native_price / PRICE_SCALE,
        }

    def _summary(self) -> Document:
        """Return the summary.

        The output is null until delivery, except for exact output, where it is known from the start.
        """
        transfer, scene, deal = self.transfer, self.scene, self.transfer.deal
        last = scene.legs[1 if transfer.same_chain else 2]
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
            "originTokenAmount": str(self.terms.from_amount),
            "originTokenMetadata": transfer.origin.as_metadata(),
            "destinationIntentAddress": transfer.destination_address,
            "destinationTokenMetadata": transfer.destination.as_metadata() if arrived else None,
            "destinationHasCallData": transfer.call_data != "0x",
            "destinationHasCallValue": transfer.call_value > 0,
            "createdAt": stamp(transfer.born),
            "expiresAt": stamp(transfer.expires),
            "destinationTokenAddress": transfer.destination.address if arrived else None,
            "destinationTokenAmount": str(self.terms.to_amount) if arrived else None,
            "destinationToAddress": transfer.recipient if arrived else None,
            "memo": deal.memo,
            "startedAt": None if scene.started is None else stamp(transfer.moment(scene.started)),
            "finishedAt": None if scene.finished is None else stamp(transfer.moment(scene.finished)),
        }
        changes = {
            key.removeprefix("summary."): each for key, each in scene.marks.items() if key.startswith("summary.")
        }
        return document | changes

    def _transaction(self, name: str, leg: Leg) -> Document:
        """Return one IntentTransaction. Fields without a value yet are null or absent, as in the real service."""
        transfer, deal = self.transfer, self.transfer.deal
        token, units, sender, receiver, data = self._payment(name)
        gasless = name == "deposit" and deal.deposit == "gasless"
        bridge_context = PROVIDERS.get(deal.providers[-1], {}).get(f"{name}Context", "NONE")
        document: dict[str, Any] = {
            "id": transfer.moment(leg.born) + LEGS.index(name),
            "intentId": transfer.intent_id,
            "status": leg.status,
            "chainId": token.chain_id,
            "type": leg.marks.get("type", name.upper()),
            "context": leg.marks.get("context", bridge_context),
            "fromAddress": sender,
            "toAddress": receiver,
            "tokenAddress": token.address,
            "tokenAmount": str(units),
            "statusReason": self._reason(leg),
            "bridgeGas": str(0),
            "calldata": data,
            "metaTxnFeeQuote": self._noise("fee quote deposit") if gasless else None,
            "precondition": self._precondition(name) if name in ("origin", "destination") else None,
            "depositIntentEntry": self._deposit_entry() if gasless else None,
            "txnMinedAt": None if leg.mined is None else stamp(transfer.moment(leg.mined)),
            "updatedAt": stamp(transfer.moment(leg.updated)),
            "createdAt": stamp(transfer.moment(leg.born)),
        }
        if gasless or (name != "deposit" and leg.sent):
            document["metaTxnId"] = self._meta_txn_id(name)
        if (hash_now := self._hash(name, leg)) is not None:
            document["txnHash"] = hash_now
        if deal.edge:
            document |= {"statusUpdatedAt": document["updatedAt"], "eligibleAt": document["createdAt"]}
        return document

    def _hash(self, name: str, leg: Leg) -> str | None:
        """Return a transaction's hash if known: at once for a wallet's deposit, when sent for a relayed one."""
        given, deal = leg.marks.get("txnHash", OWN), self.transfer.deal
        if given == PLACEHOLDER:
            return _PLACEHOLDERS[self.transfer.number // 64 % 2]
        if given != OWN:
            return str(given)
        announced = name == "deposit" and deal.deposit == "wallet"
        if not (leg.published or announced):
            return None
        named = Role[name.upper()], self.transfer.number, leg.marks.get("attempt", 0)
        is_edge = deal.edge and name == "deposit"
        return names.base58_of(*named, size=names.SIGNATURE_BYTES) if is_edge else names.hash_of(*named)

    def _payment(self, name: str) -> tuple[Token, int, str, str, str]:
        """Return token, amount, sender, receiver and calldata of a transaction."""
        transfer, terms = self.transfer, self.terms
        if name == "deposit":
            _, data, _ = calldata.deposit_call(terms)
            payer = names.base58_of(Role.OWNER, transfer.number) if transfer.deal.edge else transfer.owner
            return transfer.origin, terms.from_amount, payer, transfer.origin_address, data
        if name == "origin":
            target = calldata.provider_contract(transfer.deal.providers[0])
            return transfer.origin, terms.from_amount, transfer.origin_address, target, self._meta_input(name)
        token, address, whole = transfer.destination, transfer.destination_address, terms.to_amount
        if name == "destination":
            return token, whole, address, transfer.recipient, self._meta_input(name)
        crossed = self.scene.legs[1] is not None and self.scene.legs[1].status in ARRIVED and not transfer.same_chain
        if not crossed:
            token, address, whole = self._side("origin")
        gas = terms.gas.micro_usd * token.scale // token.price if token.price else 0
        returned = max(whole * 99 // 100, whole - gas)
        _, data, _ = calldata.fallback_call(transfer, token.address, returned)
        return token, returned, address, transfer.owner, data

    def _reason(self, leg: Leg) -> str | None:
        reason: str | None = leg.marks.get("statusReason")
        if reason and "{balance}" in reason:
            minimum = self.terms.to_minimum
            return reason.format(balance=minimum * 79_712_345 // 79_800_000, minimum=minimum)
        return reason

    def _deposit_entry(self) -> Document:
        deadline = self.transfer.expires // 1_000_000
        return {
            "intentSignature": self._noise("intent signature", 64) + "1b",
            "feeAmount": str(self.terms.origin_gas.fee.amount),
            "feeToken": self.transfer.origin.address,
            "feeCollector": names.stranger("fee collector"),
            "userNonce": names.noise(self.transfer.number, "nonce", 1)[0],
            "deadline": deadline,
            "permitSignature": self._noise("permit signature", 64) + "1c",
            "permitDeadline": deadline,
            "permitAmount": str(_NO_LIMIT),
        }


def _call(to: str, data: str, value: int, *, fallback: bool) -> Document:
    return {
        "to": to,
        "value": str(value),
        "data": data,
        "gasLimit": str(_GAS_LIMIT),
        # Only the wallet's own helper contract runs as a delegate call. Other contracts are called normally.
        "delegateCall": fallback,
        "onlyFallback": fallback,
        "behaviorOnError": 0 if fallback else 2,
    }


def _amount(field: str, value_of: str, fee: Fee) -> Document:
    return {field: str(fee.amount), f"{value_of}Usd": fee.usd}
