// With the policy of our pages nothing that a script adds becomes a script, or the address of one. What htmx fetched may
// become HTML, in which nothing runs; a fragment that holds a script is refused whole.
window.trustedTypes?.createPolicy("default", { createHTML: (text) => text });
