// A link to a case has its identifiers in the fragment, which browsers send to no server. Submits them like pasted text.
{
  const MOST = 200;
  const IDENTIFIER = /^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{1,63}\.{3}[0-9a-f]{1,63})$/i;

  function openCase() {
    const ids = new URLSearchParams(location.hash.slice(1)).get("ids");
    if (ids === null) return;
    // Going back must not submit them again.
    history.replaceState(history.state, "", location.pathname);
    const known = ids.split(",").filter((id) => IDENTIFIER.test(id));
    if (!known.length) return toast("The link has no identifiers.");
    const field = document.querySelector("[data-case]");
    field.value = known.slice(0, MOST).join("\n");
    field.form.requestSubmit();
  }

  openCase();
  // The results have the URL of the form: a link opened on them changes only the fragment.
  addEventListener("hashchange", openCase);
}
