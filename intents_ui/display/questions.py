"""What may be meant by what somebody pasted: the keys under which the service may know it."""

from intents_ui.display.pasted import Kind
from intents_ui.service import lookup

KEYS = {
    Kind.INTENT: (lookup.INTENT_ID,),
    Kind.TRANSACTION: (lookup.TRANSACTION_HASH,),
    Kind.SOLANA_SIGNATURE: (lookup.TRANSACTION_HASH,),
    Kind.HASH: (lookup.INTENT_ID, lookup.TRANSACTION_HASH),
    Kind.ADDRESS: lookup.ADDRESS,
    Kind.SOLANA_ADDRESS: lookup.ADDRESS,
    Kind.WORDS: (lookup.WORDS,),
}
# Asked after a miss: an intent id gets into a link to a transaction when somebody takes it for a transaction's hash.
KEYS_AFTER_A_MISS = {Kind.TRANSACTION: (lookup.INTENT_ID,)}
