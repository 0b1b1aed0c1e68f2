// Trusted Types policy: allow HTML from htmx, in which scripts don't run, but no script and no script URL. A fragment
// with a script is rejected.
window.trustedTypes?.createPolicy("default", { createHTML: (text) => text });

// CSP can't stop a redirect by an added <meta>, so reject fragments with one.
document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail.tasks.some((task) => task.fragment.querySelector("meta"))) event.preventDefault();
});
