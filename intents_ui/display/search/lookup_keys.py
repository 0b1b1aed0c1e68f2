"""Search keys for each kind of pasted identifier."""

from intents_ui.display.search.identifiers import Kind
from intents_ui.service.queries import lookup

KEYS = {
    Kind.INTENT: (lookup.INTENT_ID,),
    Kind.TRANSACTION: (lookup.TRANSACTION_HASH,),
    Kind.SOLANA_SIGNATURE: (lookup.TRANSACTION_HASH,),
    Kind.HASH: (lookup.INTENT_ID, lookup.TRANSACTION_HASH),
    Kind.ADDRESS: lookup.ADDRESS,
    Kind.SOLANA_ADDRESS: lookup.ADDRESS,
    Kind.WORDS: (lookup.WORDS,),
}
# Tried if nothing is found: people put intent IDs into transaction links.
KEYS_AFTER_A_MISS = {Kind.TRANSACTION: (lookup.INTENT_ID,)}
