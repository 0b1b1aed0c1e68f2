"""Field tables of docs/contract.md: objects, requests and responses.

Independent of the models, so that a misread field can't be wrong in both. `problems` checks any JSON document against
the tables. `unknown_members` lists fields that the tables don't have. A type ending in `!` is required, one ending
in `[]` is a list. The service may send any number as a string of digits.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

INTENT_STATUSES = ["QUOTED", "COMMITTED", "EXECUTING", "FAILED", "SUCCEEDED", "ABORTED", "REFUNDED", "INVALID"]
TRANSACTION_STATUSES = [
    "UNKNOWN",
    "ON_HOLD",
    "PENDING",
    "RELAYING",
    "SENT",
    "ERRORED",
    "MINING",
    "SUCCEEDED",
    "FAILED",
    "ABORTED",
    "REVERTED",
    "RELAYED",
]

_TABLES = """
2.1 Intent
id number, projectId number, intentId string, status IntentStatus, quoteRequest QuoteIntentRequest, ownerAddress string
originChainId number, destinationChainId number, originIntentAddress string, destinationIntentAddress string
salt number, depositTransaction DepositTransaction, originCalls IntentCalls
originPrecondition TransactionPrecondition, originMetaTxn MetaTxn, quote IntentProviderQuote, fees IntentFees
serviceVersion string, serviceContracts ServiceContracts, expiresAt string, passthrough boolean
destinationCalls IntentCalls, destinationPrecondition TransactionPrecondition, destinationMetaTxn MetaTxn
intentProtocol string, updatedAt string, createdAt string
destinationSalt number, calls IntentCalls[], preconditions TransactionPrecondition[], metaTxns MetaTxn[]

2.2 QuoteIntentRequest
ownerAddress string, originChainId number, originTokenAddress string, destinationChainId number
destinationTokenAddress string, destinationToAddress string, destinationApproveAddress string
destinationCallData string, destinationCallValue number, originTokenAmount number, destinationTokenAmount number
tradeType string, fundMethod string, onlyNativeGasFee boolean, options QuoteOptions

2.2 QuoteOptions
intentProtocol string, swapProvider string, bridgeProvider string, swapProviderFallback boolean
bridgeProviderFallback boolean, preference string, slippageTolerance number
serviceAddressOverrides ServiceAddressOverrides

2.2 ServiceAddressOverrides
smartWalletFactoryAddress string, smartWalletMainModuleAddress string
smartWalletMainModuleUpgradableAddress string, smartWalletGuestModuleAddress string, smartWalletUtilsAddress string

2.3 DepositTransaction
toAddress string, tokenAddress string, amount number, chainId number, to string, data string, value number
decimals number

2.4 IntentCalls
chainId number, calls Call[], space number, nonce number

2.4 Call
to string, value number, data string, gasLimit number, delegateCall boolean, onlyFallback boolean
behaviorOnError number

2.5 TransactionPrecondition
type string, chainId number, ownerAddress string, tokenAddress string, minAmount number

2.6 MetaTxn
id string, chainId number, walletAddress string, contract string, input string, bridgeGas number

2.7 IntentProviderQuote
routeProviders string[], routeProvidersRequestIds string[], routeProvidersFeeUsd number[]
fromAmount number, fromAmountMin number, fromAmountUsd number, fromAmountMinUsd number
toAmount number, toAmountMin number, toAmountUsd number, toAmountMinUsd number
maxSlippage number, priceImpact number, priceImpactUsd number, priceImpactDetails PriceImpactDetails
estimatedDuration number

2.7 PriceImpactDetails
executionPriceImpact PriceImpact, marketPriceImpact PriceImpact, providerFeesPriceImpact PriceImpact
serviceFeesPriceImpact PriceImpact, netPriceImpact PriceImpact

2.7 PriceImpact
priceImpact number, priceImpactUsd number

2.8 IntentFees
originGas GasFee, destinationGas GasFee, provider ProviderFee, feeTokenAddress string
feeTokenAmount number, feeTokenUsd number, feeTokenTotal number, gasFeeTotal number, gasFeeUsd number
serviceFeeTotal number, serviceFeeUsd number, collectorFeeTotal number, collectorFeeUsd number
providerFeeTotal number, providerFeeUsd number, totalFeeAmount number, totalFeeUsd number

2.8 GasFee
chainId number, totalGasLimit number, gasPrice number, nativeTokenSymbol string, chainGasUsageStatus string
totalFeeAmount number, totalFeeUsd string, metaTxnFeeDetails MetaTxnFeeDetails, metaTxnGasQuote string
nativeTokenPriceUsd number

2.8 MetaTxnFeeDetails
metaTxnId string, estimatedGasLimit number, feeNative number

2.8 ProviderFee
quoteProvider string, quoteProviderFee number, quoteProviderFeeUsd number, serviceFee number, serviceFeeUsd number
quoteProviderWithServiceFee number, providerWithServiceFeeUsd number, totalFeeAmount number, totalFeeUsd number

2.9 ServiceContracts
serviceIntentEntrypointAddress string, serviceRouterAddress string, serviceRouterShimAddress string

2.10 IntentReceipt
id number, projectId number, intentId string, status IntentStatus, ownerAddress string
originChainId number, destinationChainId number
depositTransactionId number, depositTransaction IntentTransaction
originTransactionId number, originTransaction IntentTransaction
destinationTransactionId number, destinationTransaction IntentTransaction
refundTransactionId number, refundTransaction IntentTransaction
summary IntentReceiptSummary, updatedAt string, createdAt string

2.11 IntentTransaction
id number, intentId string, status TransactionStatus, chainId number, type string, context string
fromAddress string, toAddress string, tokenAddress string, tokenAmount number, statusReason string
bridgeGas number, calldata string, metaTxnId string, metaTxnFeeQuote string, precondition TransactionPrecondition
depositIntentEntry DepositIntentEntry, txnHash string, txnMinedAt string, updatedAt string, createdAt string

2.11 DepositIntentEntry
intentSignature string, feeAmount string, feeToken string, feeCollector string, userNonce number, deadline number
permitSignature string, permitDeadline number, permitAmount number

2.12 IntentReceiptSummary
intentId string, status IntentStatus, ownerAddress string, originChainId number, destinationChainId number
tradeType string, routeProviders string[], originIntentAddress string, originTokenAddress string
originTokenAmount number, originTokenMetadata TokenMetadata, destinationIntentAddress string
destinationTokenMetadata TokenMetadata, destinationHasCallData boolean, destinationHasCallValue boolean
createdAt string, expiresAt string, destinationTokenAddress string, destinationTokenAmount number
destinationToAddress string, memo string, startedAt string, finishedAt string

2.12 TokenMetadata
chainId number, tokenAddress string, name string, symbol string, decimals number, logoUri string

2.13 IntentHistory
intentId string, status IntentStatus, expiresAt string, updatedAt string, createdAt string, receipt IntentReceipt
hasBalance boolean, balances BalanceGroup[]

2.13 BalanceGroup
intentAddress string, chainId number, tokens TokenBalance[]

2.13 TokenBalance
contractAddress string, balance string, balanceUsd string, priceUsd string, decimals number, chainId number
symbol string

2.14 TokenInfo
chainId number, address string, name string, symbol string, decimals number, featured boolean, featureIndex number
supportsBridging boolean, logoUri string

2.15 ChainInfo
id number, name string, nativeCurrency NativeCurrency, logoUri string, blockExplorer BlockExplorer
tokenName string, tokenSymbol string, tokenDecimals number, isTestnet boolean, supportsBridging boolean
blockExplorerUrl string

2.15 NativeCurrency
name string, symbol string, decimals number

2.15 BlockExplorer
name string, url string

2.16 Page
column string, before number, after number, sort SortBy[], pageSize number, more boolean

2.16 SortBy
column string, order string

4.1 SearchIntents.request
byIntentId string, byProjectId number, byTransactionHash string, byOwnerAddress string
byOriginIntentAddress string, byDestinationIntentAddress string, byQueryString string
byDepositTransactionHash string

4.1 SearchIntents.response
intents Intent[]

4.2 GetIntentHistory.request
page Page, byProjectId number, byOwnerAddress string, byStatus IntentStatus, byStatuses IntentStatus[]
originChainId number, destinationChainId number, fromTime number, toTime number, includeBalances boolean
onlyRecoverable boolean

4.2 GetIntentHistory.response
intents IntentHistory[]!, nextPage Page

4.3 GetIntent.request
intentId string!

4.3 GetIntent.response
intent Intent!

4.4 GetIntentReceipt.request
intentId string!

4.4 GetIntentReceipt.response
intentReceipt IntentReceipt!

4.5 WaitIntentReceipt.request
intentId string!, lastReceiptStates TransactionStatus[]

4.5 WaitIntentReceipt.response
intentReceipt IntentReceipt!, receiptStates TransactionStatus[]!, done boolean!

4.6 CommitIntent.request
intent Intent!

4.6 CommitIntent.response
intentId string!

4.7 GetTokenList.request
chainIds number[]!, searchQuery string, limit number, tokenAddress string, includeAllListed boolean
includeExternal boolean, excludeTokens string[]

4.7 GetTokenList.response
tokens TokenInfo[]!

4.7a GetChains.request
routeProvider string

4.7a GetChains.response
chains ChainInfo[]!

4.8 GetExactInputRoutes.request
originChainId number!, originTokenAddress string!, destinationChainId number, destinationTokenAddress string

4.8 GetExactInputRoutes.response
tokens TokenInfo[]!

4.9 GetExactOutputRoutes.request
destinationChainId number!, destinationTokenAddress string!, originChainId number, originTokenAddress string
ownerAddress string

4.9 GetExactOutputRoutes.response
tokens TokenInfo[]!
"""

type Table = tuple[tuple[str, str], ...]


def _tables() -> Iterator[tuple[str, Table]]:
    for paragraph in _TABLES.strip().split("\n\n"):
        heading, *lines = paragraph.splitlines()
        fields = ", ".join(lines).split(", ")
        yield heading.split()[1], tuple((name, kind) for name, kind in map(str.split, fields))


# Object, or operation and direction, to its (field, type) rows.
SPEC: dict[str, Table] = dict(_tables())
OBJECTS = {name: table for name, table in SPEC.items() if "." not in name}


def problems(object_name: str, document: object) -> list[str]:
    """Return where the document doesn't match its table. Unknown fields are accepted."""
    return [text for text, is_unknown in _findings(object_name, document, object_name) if not is_unknown]


def unknown_members(object_name: str, document: object) -> list[str]:
    """Return fields at any depth that the tables don't have."""
    return [text for text, is_unknown in _findings(object_name, document, object_name) if is_unknown]


def _findings(kind: str, value: object, path: str) -> Iterator[tuple[str, bool]]:
    if kind.endswith("[]"):
        if not isinstance(value, list):
            yield f"{path}: not a list", False
            return
        for place, entry in enumerate(value):
            yield from _findings(kind[:-2], entry, f"{path}[{place}]")
    elif kind in SPEC:
        if not isinstance(value, dict):
            yield f"{path}: not an object", False
            return
        yield from _member_findings(SPEC[kind], value, path)
    elif not _is(kind, value):
        yield f"{path}: not a {kind}", False


def _member_findings(table: Table, members: dict[str, object], path: str) -> Iterator[tuple[str, bool]]:
    for name, kind in table:
        value = members.get(name)
        if value is not None:
            yield from _findings(kind.removesuffix("!"), value, f"{path}.{name}")
        elif kind.endswith("!"):
            yield f"{path}.{name}: missing", False
    for name in members.keys() - dict(table).keys():
        yield f"{path}.{name}", True


def _is(kind: str, value: object) -> bool:
    match kind:
        case "number":
            is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
            return is_number or (isinstance(value, str) and re.fullmatch(r"[0-9]+", value) is not None)
        case "boolean":
            return isinstance(value, bool)
        case "string" | "IntentStatus" | "TransactionStatus":
            return isinstance(value, str)
    raise LookupError(f"{kind} is not in the tables")
