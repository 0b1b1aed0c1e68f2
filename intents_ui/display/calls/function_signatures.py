"""Well-known contract functions: selectors, argument names, and a sentence on what each does.

A selector tells what the sender intends, not what the contract does. In a sentence, `{name}` is an argument, and
`{caller}`, `{contract}`, `{token}` and `{value}` are the caller, the called contract, the token it represents, and
the native tokens sent. `{flag:yes|no}` chooses by a flag, and `{name:token}` is the token at an address.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

CONTRACT = "contract"  # the called contract is the token
PERHAPS = "contract?"  # the contract may be the token, or hold it
NATIVE = "native"
UNNAMED = "unnamed"  # not in the call


class Carries(StrEnum):
    """How nested calls are encoded in a call."""

    NONE = ""
    OWN = "own"  # a list of data, all for the same contract
    LISTED = "listed"  # a list of (contract, data) or (contract, value, data)
    ONE = "one"  # one contract and the data for it
    PACKED = "packed"  # the smart wallet's compact list, as bytes
    BATCH = "batch"  # operation, contract, value and data, one after the other, as bytes


@dataclass(frozen=True)
class Parameter:
    """A parameter. `type` is spelled as in a signature. `parts` are the fields of a struct, or of each struct in a
    list.
    """

    name: str
    type: str
    parts: tuple["Parameter", ...] = ()

    @property
    def is_list(self) -> bool:
        return self.type.endswith("]")


@dataclass(frozen=True)
class Function:
    """A function. `of` maps amounts to their token: CONTRACT, PERHAPS, NATIVE, UNNAMED, an argument's name, or an
    end of a path.

    `allowance` names the amount whose maximum means "without limit".
    """

    selector: str
    declaration: str
    sentence: str
    of: Mapping[str, str] = field(default_factory=dict)
    allowance: str = ""
    carries: Carries = Carries.NONE

    @property
    def name(self) -> str:
        return self.declaration.partition("(")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(map(_parameter, _split(self.declaration.partition("(")[2].removesuffix(")"))))

    @cached_property
    def signature(self) -> str:
        return f"{self.name}({','.join(each.type for each in self.parameters)})"


def _parameter(text: str) -> Parameter:
    """Parse `uint256 amount` or `(address target, bytes callData)[] calls`."""
    kind, _, name = text.rpartition(" ")
    if not kind.startswith("("):
        return Parameter(name, kind)
    members, _, suffix = kind.removeprefix("(").rpartition(")")
    parts = tuple(map(_parameter, _split(members)))
    return Parameter(name, f"({','.join(part.type for part in parts)}){suffix}", parts)


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of parentheses."""
    depth, piece = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            yield piece.strip()
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece.strip()


SWAP = "Swap {amountIn} for at least {amountOutMin}, paid to {to}"
BUY = "Buy {amountOut} for at most {amountInMax}, paid to {to}"
PATH = {"amountIn": "path.first", "amountOutMin": "path.last", "amountInMax": "path.first", "amountOut": "path.last"}
PATH_IN = PATH | {"amountOut": NATIVE, "amountOutMin": NATIVE}
SWAP_3 = "Swap {amountIn} for at least {amountOutMinimum}, paid to {recipient}"
BUY_3 = "Buy {amountOut} for at most {amountInMaximum}, paid to {recipient}"
PAIR = {
    "amountIn": "tokenIn",
    "amountOutMinimum": "tokenOut",
    "amountInMaximum": "tokenIn",
    "amountOut": "tokenOut",
}
PATH_3 = {"amountIn": "path.first", "amountOutMinimum": "path.last"}
# The path of an exact-output swap is reversed.
PATH_BACK = {"amountOut": "path.first", "amountInMaximum": "path.last"}
BURN = "Burn {amount} and mint it to {mintRecipient} on {destinationDomain}"
BURNT = {"amount": "burnToken", "maxFee": "burnToken"}
TOGETHER = "Run these calls in one transaction"
ON_ARRIVAL = "Bridge {inputAmount} to deliver {outputAmount} to {recipient} on {destinationChainId}"
ACROSS = {"inputAmount": "inputToken", "outputAmount": "outputToken on destinationChainId"}
DEPOSITED = {"amount": "token", "feeAmount": "token", "permitAmount": "token"}

FUNCTIONS = (
    # ERC-20, ERC-2612, ERC-3009
    Function("a9059cbb", "transfer(address to, uint256 amount)", "Send {amount} to {to}", {"amount": CONTRACT}),
    Function(
        "095ea7b3",
        "approve(address spender, uint256 amount)",
        "Approve {spender} to spend {amount} from {caller}",
        {"amount": CONTRACT},
        allowance="amount",
    ),
    Function(
        "23b872dd",
        "transferFrom(address from, address to, uint256 amount)",
        "Transfer {amount} from {from} to {to}",
        {"amount": CONTRACT},
    ),
    Function(
        "39509351",
        "increaseAllowance(address spender, uint256 addedValue)",
        "Approve {spender} to spend {addedValue} more from {caller}",
        {"addedValue": CONTRACT},
        allowance="addedValue",
    ),
    Function(
        "a457c2d7",
        "decreaseAllowance(address spender, uint256 subtractedValue)",
        "Approve {spender} to spend {subtractedValue} less from {caller}",
        {"subtractedValue": CONTRACT},
    ),
    Function(
        "d505accf",
        "permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
        "Submit permit {deadline}: {spender} may spend {value} from {owner}",
        {"value": CONTRACT},
        allowance="value",
    ),
    Function(
        "8fcbaf0c",
        "permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, "
        "bytes32 s)",
        "Submit permit: {spender} {allowed:may|may no longer} spend {token}{allowed: without limit|} from {holder}",
    ),
    Function(
        "e3ee160e",
        "transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, "
        "bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
        "Send {value} from {from}, who signed it, to {to}",
        {"value": CONTRACT},
    ),
    Function(
        "ef55bec6",
        "receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, "
        "bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
        "Send {value} from {from}, who signed it, to {to}",
        {"value": CONTRACT},
    ),
    # ERC-721, ERC-1155
    Function(
        "42842e0e",
        "safeTransferFrom(address from, address to, uint256 tokenId)",
        "Transfer NFT {tokenId} of {contract} from {from} to {to}",
    ),
    Function(
        "b88d4fde",
        "safeTransferFrom(address from, address to, uint256 tokenId, bytes data)",
        "Transfer NFT {tokenId} of {contract} from {from} to {to}",
    ),
    Function(
        "f242432a",
        "safeTransferFrom(address from, address to, uint256 id, uint256 count, bytes data)",
        "Transfer {count} of token {id} of {contract} from {from} to {to}",
    ),
    Function(
        "a22cb465",
        "setApprovalForAll(address operator, bool approved)",
        "{approved:Approve|Revoke approval of} {operator} to transfer all NFTs of {contract} that {caller} owns",
    ),
    # Wrapped native tokens
    Function("d0e30db0", "deposit()", "Wrap {value}"),
    Function("2e1a7d4d", "withdraw(uint256 amount)", "Unwrap {amount}", {"amount": NATIVE}),
    # Vaults: ERC-4626, Aave
    Function(
        "6e553f65",
        "deposit(uint256 assets, address receiver)",
        "Deposit {assets} with {contract} for {receiver}",
        {"assets": UNNAMED},
    ),
    Function(
        "b460af94",
        "withdraw(uint256 assets, address receiver, address owner)",
        "Withdraw {assets} of {owner} from {contract}, paid to {receiver}",
        {"assets": UNNAMED},
    ),
    Function(
        "ba087652",
        "redeem(uint256 shares, address receiver, address owner)",
        "Redeem {shares} of {owner} from {contract}, paid to {receiver}",
        {"shares": CONTRACT},
    ),
    Function(
        "617ba037",
        "supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)",
        "Supply {amount} to {contract} for {onBehalfOf}",
        {"amount": "asset"},
    ),
    Function(
        "69328dec",
        "withdraw(address asset, uint256 amount, address to)",
        "Withdraw {amount} from {contract}, paid to {to}",
        {"amount": "asset"},
    ),
    # Several calls in one
    Function("ac9650d8", "multicall(bytes[] data)", TOGETHER, carries=Carries.OWN),
    Function("5ae401dc", "multicall(uint256 deadline, bytes[] data)", TOGETHER, carries=Carries.OWN),
    Function("1f0464d1", "multicall(bytes32 previousBlockhash, bytes[] data)", TOGETHER, carries=Carries.OWN),
    Function("252dba42", "aggregate((address target, bytes callData)[] calls)", TOGETHER, carries=Carries.LISTED),
    Function(
        "bce38bd7",
        "tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    Function(
        "399542e9",
        "tryBlockAndAggregate(bool requireSuccess, (address target, bytes callData)[] calls)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    Function(
        "c3077fa9", "blockAndAggregate((address target, bytes callData)[] calls)", TOGETHER, carries=Carries.LISTED
    ),
    Function(
        "82ad56cb",
        "aggregate3((address target, bool allowFailure, bytes callData)[] calls)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    Function(
        "174dea71",
        "aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    # Uniswap V2 and its forks
    Function(
        "38ed1739",
        "swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, "
        "uint256 deadline)",
        SWAP,
        PATH,
    ),
    Function(
        "8803dbee",
        "swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, "
        "uint256 deadline)",
        BUY,
        PATH,
    ),
    Function(
        "7ff36ab5",
        "swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)",
        "Swap {value} for at least {amountOutMin}, paid to {to}",
        PATH,
    ),
    Function(
        "fb3bdb41",
        "swapETHForExactTokens(uint256 amountOut, address[] path, address to, uint256 deadline)",
        "Buy {amountOut} for at most {value}, paid to {to}",
        PATH,
    ),
    Function(
        "18cbafe5",
        "swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)",
        SWAP,
        PATH_IN,
    ),
    Function(
        "4a25d94a",
        "swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)",
        BUY,
        PATH_IN,
    ),
    Function(
        "5c11d795",
        "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, "
        "address to, uint256 deadline)",
        SWAP,
        PATH,
    ),
    Function(
        "b6f9de95",
        "swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, address[] path, address to, "
        "uint256 deadline)",
        "Swap {value} for at least {amountOutMin}, paid to {to}",
        PATH,
    ),
    Function(
        "791ac947",
        "swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, "
        "address to, uint256 deadline)",
        SWAP,
        PATH_IN,
    ),
    # Uniswap V3: SwapRouter, SwapRouter02, Universal Router
    Function(
        "414bf389",
        "exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, "
        "uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)",
        SWAP_3,
        PAIR,
    ),
    Function(
        "db3e2198",
        "exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, "
        "uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params)",
        BUY_3,
        PAIR,
    ),
    Function(
        "c04b8d59",
        "exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, "
        "uint256 amountOutMinimum) params)",
        SWAP_3,
        PATH_3,
    ),
    Function(
        "f28c0498",
        "exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut, "
        "uint256 amountInMaximum) params)",
        BUY_3,
        PATH_BACK,
    ),
    Function(
        "04e45aaf",
        "exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, "
        "uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)",
        SWAP_3,
        PAIR,
    ),
    Function(
        "5023b4df",
        "exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut, "
        "uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params)",
        BUY_3,
        PAIR,
    ),
    Function(
        "b858183f",
        "exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)",
        SWAP_3,
        PATH_3,
    ),
    Function(
        "09b81346",
        "exactOutput((bytes path, address recipient, uint256 amountOut, uint256 amountInMaximum) params)",
        BUY_3,
        PATH_BACK,
    ),
    Function(
        "472b43f3",
        "swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to)",
        SWAP,
        PATH,
    ),
    Function(
        "42712a67",
        "swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to)",
        BUY,
        PATH,
    ),
    Function(
        "49404b7c",
        "unwrapWETH9(uint256 amountMinimum, address recipient)",
        "Unwrap the balance, at least {amountMinimum}, for {recipient}",
        {"amountMinimum": NATIVE},
    ),
    Function(
        "df2ab5bb",
        "sweepToken(address token, uint256 amountMinimum, address recipient)",
        "Send the balance, at least {amountMinimum}, to {recipient}",
        {"amountMinimum": "token"},
    ),
    Function("12210e8a", "refundETH()", "Refund unused native tokens"),
    Function(
        "f3995c67",
        "selfPermit(address token, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
        "Submit permit {deadline}: {contract} may spend {value} from {caller}",
        {"value": "token"},
        allowance="value",
    ),
    Function(
        "3593564c",
        "execute(bytes commands, bytes[] inputs, uint256 deadline)",
        "Run on {contract}: {commands}",
    ),
    Function("24856bc3", "execute(bytes commands, bytes[] inputs)", "Run on {contract}: {commands}"),
    # Permit2
    Function(
        "87517c45",
        "approve(address token, address spender, uint160 amount, uint48 expiration)",
        "Approve {spender} to spend {amount} from {caller} {expiration}",
        {"amount": "token"},
        allowance="amount",
    ),
    Function(
        "36c78516",
        "transferFrom(address from, address to, uint160 amount, address token)",
        "Transfer {amount} from {from} to {to}",
        {"amount": "token"},
    ),
    Function(
        "2b67b570",
        "permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, "
        "address spender, uint256 sigDeadline) permitSingle, bytes signature)",
        "Submit permit: {spender} may spend {amount} from {owner} {expiration}",
        {"amount": "token"},
        allowance="amount",
    ),
    Function(
        "30f28b7a",
        "permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, "
        "(address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)",
        "Send {requestedAmount} from {owner}, who signed it, to {to}",
        {"amount": "token", "requestedAmount": "token"},
    ),
    # Other exchanges: Sushi, 1inch, 0x
    Function(
        "2646478b",
        "processRoute(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOutMin, address to, "
        "bytes route)",
        SWAP,
        {"amountIn": "tokenIn", "amountOutMin": "tokenOut"},
    ),
    Function(
        "07ed2379",
        "swap(address executor, (address srcToken, address dstToken, address srcReceiver, address dstReceiver, "
        "uint256 amount, uint256 minReturnAmount, uint256 flags) desc, bytes data)",
        "Swap {amount} for at least {minReturnAmount}, paid to {dstReceiver}",
        {"amount": "srcToken", "minReturnAmount": "dstToken"},
    ),
    Function(
        "12aa3caf",
        "swap(address executor, (address srcToken, address dstToken, address srcReceiver, address dstReceiver, "
        "uint256 amount, uint256 minReturnAmount, uint256 flags) desc, bytes permit, bytes data)",
        "Swap {amount} for at least {minReturnAmount}, paid to {dstReceiver}",
        {"amount": "srcToken", "minReturnAmount": "dstToken"},
    ),
    Function(
        "d5bcb9b5",
        "swap(address fromToken, address toToken, uint256 amount, uint256 minReturn, address account)",
        "Swap {amount} for at least {minReturn}",
        {"amount": "fromToken", "minReturn": "toToken"},
    ),
    Function(
        "415565b0",
        "transformERC20(address inputToken, address outputToken, uint256 inputAmount, uint256 minOutputAmount, "
        "(uint32 deploymentNonce, bytes data)[] transformations)",
        "Swap {inputAmount} for at least {minOutputAmount}",
        {"inputAmount": "inputToken", "minOutputAmount": "outputToken"},
    ),
    Function(
        "2213bc0b",
        "exec(address operator, address token, uint256 amount, address target, bytes data)",
        "Approve {operator} to spend {amount} for this call",
        {"amount": "token"},
        carries=Carries.ONE,
    ),
    # Circle's CCTP, v1 and v2
    Function(
        "6fd3504e",
        "depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken)",
        BURN,
        BURNT,
    ),
    Function(
        "f856ddb6",
        "depositForBurnWithCaller(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, "
        "bytes32 destinationCaller)",
        BURN,
        BURNT,
    ),
    Function(
        "8e0250ee",
        "depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, "
        "bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)",
        BURN,
        BURNT,
    ),
    Function(
        "779b432d",
        "depositForBurnWithHook(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, "
        "bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold, bytes hookData)",
        BURN,
        BURNT,
    ),
    Function(
        "57ecfd28",
        "receiveMessage(bytes message, bytes attestation)",
        "Submit the bridge's attested message, which mints the burned amount",
    ),
    # Other bridges: LayerZero, Hyperlane, Across, Relay
    Function(
        "c7c7f5b3",
        "send((uint32 dstEid, bytes32 to, uint256 amountLD, uint256 minAmountLD, bytes extraOptions, bytes composeMsg, "
        "bytes oftCmd) sendParam, (uint256 nativeFee, uint256 lzTokenFee) fee, address refundAddress)",
        "Bridge {amountLD} to {to} on {dstEid}, at least {minAmountLD}",
        {"amountLD": PERHAPS, "minAmountLD": PERHAPS, "nativeFee": NATIVE},
    ),
    Function(
        "81b4e8b4",
        "transferRemote(uint32 destination, bytes32 recipient, uint256 amount)",
        "Bridge {amount} to {recipient} on {destination}",
        {"amount": PERHAPS},
    ),
    Function(
        "7b939232",
        "depositV3(address depositor, address recipient, address inputToken, address outputToken, uint256 inputAmount, "
        "uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, "
        "uint32 fillDeadline, uint32 exclusivityDeadline, bytes message)",
        ON_ARRIVAL,
        ACROSS,
    ),
    Function(
        "ad5425c6",
        "deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, "
        "uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, "
        "uint32 fillDeadline, uint32 exclusivityDeadline, bytes message)",
        ON_ARRIVAL,
        ACROSS,
    ),
    Function(
        "5e583a5a",
        "bridge(address token, uint256 amount, uint256 toChainId, address receiver)",
        "Bridge {amount} to {receiver} on {toChainId}",
        {"amount": "token"},
    ),
    Function(
        "e8017952",
        "depositErc20(address depositor, address token, uint256 amount, bytes32 id)",
        "Deposit {amount} with the bridge for {depositor}",
        {"amount": "token"},
    ),
    Function(
        "49290c1c",
        "depositNative(address depositor, bytes32 id)",
        "Deposit {value} with the bridge for {depositor}",
    ),
    Function("d948d468", "forward(bytes data)", "Send {value} to the bridge"),
    Function(
        "30be5567",
        "multicall((address target, bool allowFailure, uint256 value, bytes callData)[] calls, address refundTo, "
        "address nftRecipient)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    Function(
        "cd6e13f7",
        "multicall((address target, bool allowFailure, uint256 value, bytes callData)[] calls, address refundTo, "
        "address nftRecipient, bytes metadata)",
        TOGETHER,
        carries=Carries.LISTED,
    ),
    # Smart wallets: the service's own, and others
    Function(
        "1f6a1eb9", "execute(bytes payload, bytes signature)", "Run these calls on {contract}", carries=Carries.PACKED
    ),
    Function(
        "b61d27f6",
        "execute(address dest, uint256 value, bytes func)",
        "Run this call on {contract}",
        {"value": NATIVE},
        carries=Carries.ONE,
    ),
    Function(
        "34fcd5be",
        "executeBatch((address target, uint256 value, bytes data)[] calls)",
        "Run these calls on {contract}",
        carries=Carries.LISTED,
    ),
    Function(
        "6a761202",
        "execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, "
        "uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)",
        "Run this call on {contract}",
        {"value": NATIVE},
        carries=Carries.ONE,
    ),
    Function("8d80ff0a", "multiSend(bytes transactions)", TOGETHER, carries=Carries.BATCH),
    # Delegate calls of the service's wallet, and its entrypoint
    Function(
        "b8dc491b",
        "sweep(address token, address recipient)",
        "Send the whole {token:token} balance of {caller} to {recipient}",
    ),
    Function(
        "1c6dd88c",
        "refundAndSweep(address token, address recipient, uint256 amount)",
        "Refund {amount} to {recipient} and sweep the rest",
        {"amount": "token"},
    ),
    Function(
        "4784226e",
        "refundAndSweep(address token, address refundRecipient, uint256 refundAmount, address sweepRecipient)",
        "Refund up to {refundAmount} to {refundRecipient} and send the rest to {sweepRecipient}",
        {"refundAmount": "token"},
    ),
    Function(
        "2a3ee126",
        "validateOpHashAndSweep(bytes32 opHash, address token, address recipient)",
        "If the previous calls succeeded, send the whole {token:token} balance of {caller} to {recipient}",
    ),
    Function(
        "5b5e6516",
        "injectAndCall(address token, address target, bytes callData, uint256 amountOffset, bytes32 placeholder)",
        "Run this call with the whole {token:token} balance of {caller}",
        carries=Carries.ONE,
    ),
    Function(
        "c5e5153b",
        "injectSweepAndCall(address token, address target, bytes callData, uint256 amountOffset, bytes32 placeholder)",
        "Run this call with the whole {token:token} balance of {caller}",
        carries=Carries.ONE,
    ),
    Function(
        "3525916f",
        "depositToIntent(address user, address token, uint256 amount, address intentAddress, uint256 deadline, "
        "uint256 nonce, uint256 feeAmount, address feeCollector, uint8 v, bytes32 r, bytes32 s)",
        "Transfer {amount} from {user}, who signed it, to {intentAddress}, with a relay fee of {feeAmount} to "
        "{feeCollector}",
        DEPOSITED,
    ),
    Function(
        "358a8f48",
        "depositToIntentWithPermit(address user, address token, uint256 amount, uint256 permitAmount, "
        "address intentAddress, uint256 deadline, uint256 nonce, uint256 feeAmount, address feeCollector, "
        "uint8 permitV, bytes32 permitR, bytes32 permitS, uint8 sigV, bytes32 sigR, bytes32 sigS)",
        "Submit permit: {contract} may spend {permitAmount} from {user}. Transfer {amount} to {intentAddress}, with a "
        "relay fee of {feeAmount} to {feeCollector}",
        DEPOSITED,
        allowance="permitAmount",
    ),
)
KNOWN = {bytes.fromhex(function.selector): function for function in FUNCTIONS}
