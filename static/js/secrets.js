// Recovery phrases and private keys don't leave the browser. The server checks again (display/search/secret_text.py).
{
  const BASE58 = "[1-9A-HJ-NP-Za-km-z]";
  const NAMED = "(?:(?:private|secret|signing)[\\W_]*key|privkey|recovery[\\W_]*phrase|seed|mnemonic)";
  const KEY = `(?<!\\w)(?:(?:0x)?[0-9a-f]{64}|${BASE58}{86,88})(?!\\w)`;
  const FORMS = [
    new RegExp(`(?<!\\w)(?:[59]${BASE58}{50}|[KLc]${BASE58}{51}|[a-zA-Z]prv${BASE58}{90,120})(?!\\w)`),
    new RegExp(`${NAMED}[^.!?]{0,40}?${KEY}|${KEY}[^.!?]{0,40}?${NAMED}`, "i"),
    /\[\s*(?:\d{1,3}\s*,\s*){63}\d{1,3}\s*\]/,
  ];
  const WARNING = "This looks like a recovery phrase or a private key. It was not sent. Never share it, and move the funds to a new wallet.";
  const PHRASE = 12;
  let known;

  // Whether eleven of twelve words in a row are on the list, and at least eight of them differ.
  async function hasPhrase(words) {
    if (words.length < PHRASE) return false;
    known ??= new Set((await (await fetch("/static/vendor/bip39-english.txt")).text()).split("\n"));
    return words.some((_, at) => {
      const found = words.slice(at, at + PHRASE).filter((word) => known.has(word));
      return found.length >= PHRASE - 1 && new Set(found).size > 7;
    });
  }

  document.addEventListener(
    "submit",
    async (event) => {
      const form = event.target;
      const field = form.querySelector("[data-search], [data-case], [data-ticket]");
      if (!field || field.dataset.checked === field.value) return;
      const text = field.value.normalize("NFKC");
      const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
      const isKey = FORMS.some((each) => each.test(text));
      if (!isKey && words.length < PHRASE) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      // Without the list, rather ask than send.
      if (isKey || (await hasPhrase(words).catch(() => true))) {
        field.value = "";
        field.dispatchEvent(new Event("input", { bubbles: true })); // suggestions repeat the text
        const note = document.getElementById("held-back") ?? document.createElement("p");
        Object.assign(note, { id: "held-back", className: "note", role: "alert", textContent: WARNING, tabIndex: -1 });
        note.dataset.tone = "bad";
        form.after(note);
        return note.focus(); // which closes the suggestions
      }
      field.dataset.checked = field.value;
      form.requestSubmit(event.submitter);
    },
    true,
  );

  // A suggestion to search for the text is checked like the form.
  function checkSuggestion(event) {
    const form = event.target.closest?.("#palette a[href*='/search?q=']")?.closest("form");
    if (!form || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    form.requestSubmit();
  }

  document.addEventListener("click", checkSuggestion, true);
}
