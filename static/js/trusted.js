// With the policy of our pages nothing that a script adds becomes a script, or the address of one. What htmx fetched may
// become HTML, in which nothing runs; a fragment that holds a script is refused whole.
window.trustedTypes?.createPolicy("default", { createHTML: (text) => text });

// No policy keeps a page from being led elsewhere by a <meta> that is added to it, so such a fragment is refused too.
document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail.tasks.some((task) => task.fragment.querySelector("meta"))) event.preventDefault();
});
