"""Which questions to the service may find what somebody pasted: every key that it may be."""

from intents_ui.display.pasted import Kind
from intents_ui.service import lookup

ASK = {
    Kind.INTENT: lookup.as_id,
    Kind.TRANSACTION: lookup.as_transaction,
    Kind.SOLANA_SIGNATURE: lookup.as_transaction,
    Kind.HASH: lookup.as_hash,
    Kind.ADDRESS: lookup.as_address,
    Kind.SOLANA_ADDRESS: lookup.as_address,
    Kind.WORDS: lookup.as_words,
}
