// Recovery phrases and private keys don't leave the browser. The server checks again (display/search/secret_text.py).
{
  const BASE58 = "[1-9A-HJ-NP-Za-km-z]";
  const NAMED = "(?:(?:private|secret|signing)[\\W_]*key|privkey|recovery[\\W_]*phrase|seed|mnemonic)";
  const KEY = `(?<![0-9A-Za-z])(?:(?:0x)?[0-9a-f]{64}|${BASE58}{86,88})(?![0-9A-Za-z])`;
  const FORMS = [
    new RegExp(`(?<![0-9A-Za-z])(?:[59]${BASE58}{50}|[KLc]${BASE58}{51}|[a-zA-Z]prv${BASE58}{90,120})(?![0-9A-Za-z])`),
    new RegExp(`${NAMED}[^.!?]{0,40}?${KEY}`, "i"),
    new RegExp(`${KEY}[^.!?]{0,40}?${NAMED}`, "i"),
    /\[\s*(?:[0-9]{1,3}\s*,\s*){63}[0-9]{1,3}\s*\]/,
  ];
  const PHRASE = 12;
  const WARNING = "This looks like a recovery phrase or a private key. It was not sent. Never share it, not even with support. Whoever has seen it can take the funds, so move them to a new wallet.";
  let known;

  // Whether eleven of twelve words in a row are `fitting`.
  function hasPhrase(words, fitting) {
    const found = words.map((word) => Number(fitting(word)));
    return found.some((_, at) => at + PHRASE <= found.length && found.slice(at, at + PHRASE).reduce((sum, each) => sum + each) >= PHRASE - 1);
  }

  async function isSecret(text, words) {
    if (FORMS.some((form) => form.test(text))) return true;
    try {
      known ??= new Set((await (await fetch("/static/vendor/bip39-english.txt")).text()).split("\n"));
    } catch {
      return true; // without the list, rather ask than send
    }
    return hasPhrase(words, (word) => known.has(word));
  }

  function warn(field) {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    const note = document.getElementById("held-back") ?? document.createElement("p");
    Object.assign(note, { id: "held-back", className: "note", role: "alert", textContent: WARNING });
    note.dataset.tone = "bad";
    field.form.after(note);
    field.focus();
  }

  document.addEventListener(
    "submit",
    async (event) => {
      const field = event.target.querySelector("[data-search], [data-case], [data-ticket]");
      if (!field || field.dataset.checked === field.value) return;
      const text = field.value.normalize("NFKC");
      const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
      // Most texts have no such words, and need no list.
      if (!FORMS.some((form) => form.test(text)) && !hasPhrase(words, (word) => /^[a-z]{3,8}$/.test(word))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (await isSecret(text, words)) return warn(field);
      field.dataset.checked = field.value;
      event.target.requestSubmit(event.submitter);
    },
    true,
  );
}
