// What tests do in an open page, by name, for looks.py. A check returns its findings as sentences.
({
  // A link within a sentence has the height of its line (WCAG 2.5.8). Elements outside of the screen can't be pressed.
  tooSmall: () => {
    const inSentence = (target) => target.matches(":is(p, li) a") && getComputedStyle(target).display === "inline"
      && target.parentElement.textContent.trim() !== target.textContent.trim();
    const area = (target) => {
      const own = target.getBoundingClientRect();
      const row = target.closest("tr, li")?.getBoundingClientRect();
      return row && getComputedStyle(target, "::after").position === "absolute" ? row : own;
    };
    return Array.from(document.querySelectorAll("a[href], button, summary"))
      .filter((target) => target.checkVisibility({ visibilityProperty: true }))
      .filter((target) => !target.closest(".skip, .visually-hidden"))
      .filter((target) => !inSentence(target))
      .map((target) => [target, area(target)])
      .filter(([, { width, height }]) => width < 23.9 || height < 23.9)
      .map(([target, { width, height }]) =>
        `${target.outerHTML.slice(0, 90)} ${target.innerText.slice(0, 30)} ${width.toFixed(1)}x${height.toFixed(1)}`);
  },

  // Structure: one of each landmark, headings in order, named tables,
  // errors linked to their controls, and nothing that changes every second in a live region.
  wronglyBuilt: () => {
    const wrong = [];
    const shown = (all) => Array.from(document.querySelectorAll(all)).filter((one) => one.checkVisibility());
    const one = (what, all) => { if (shown(all).length !== 1) wrong.push(`${shown(all).length} of ${what}`); };
    const framed = !document.body.matches(".embedded");
    one("main", "main");
    one("h1", "h1");
    if (framed) one("header", "body > header"), one("footer", "body > footer");
    if (!document.documentElement.lang) wrong.push("no language");
    let level = 1;
    for (const heading of shown("h1, h2, h3, h4, h5, h6")) {
      const its = Number(heading.localName[1]);
      if (its > level + 1) wrong.push(`h${its} after h${level}: ${heading.textContent.trim().slice(0, 40)}`);
      level = its;
    }
    for (const table of document.querySelectorAll("table")) {
      if (!table.caption?.textContent.trim()) wrong.push(`no caption: ${table.className}`);
      if (!table.querySelector("th")) wrong.push(`no header: ${table.className}`);
      for (const head of table.querySelectorAll("th:not([scope])"))
        wrong.push(`no scope: ${head.outerHTML.slice(0, 60)}`);
    }
    for (const ids of document.querySelectorAll("[aria-describedby], [aria-labelledby], [aria-controls]"))
      for (const id of ["describedby", "labelledby", "controls"].flatMap((kind) =>
        (ids.getAttribute(`aria-${kind}`) ?? "").split(" ").filter(Boolean)))
        if (!document.getElementById(id)) wrong.push(`${id} is nowhere: ${ids.outerHTML.slice(0, 80)}`);
    for (const control of document.querySelectorAll("[aria-invalid=true]"))
      if (!control.closest("[aria-describedby]"))
        wrong.push(`not said what is wrong: ${control.outerHTML.slice(0, 80)}`);
    for (const live of document.querySelectorAll("[role=status], [aria-live]:not([aria-live=off])"))
      if (live.querySelector("[data-since], [data-until], [data-clock], [data-ago]"))
        wrong.push(`ticks where it is read out: ${live.outerHTML.slice(0, 100)}`);
    return wrong;
  },

  // A scrollable region can be reached by keyboard and has a name (WCAG 1.4.10, 2.1.1).
  scrolledWithoutKeyboard: () => Array.from(document.querySelectorAll("body *"))
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
    .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowX))
    .filter((one) => !one.matches("input, textarea, select"))
    .filter((one) => !(one.tabIndex >= 0 || one.querySelector("a, button, input, summary, [tabindex]")))
    .map((one) => `scrolled without a keyboard: ${one.outerHTML.slice(0, 100)}`),

  moving: () => document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().activeDuration > 10)
    .map((one) => `moves: ${one.animationName ?? one.transitionProperty} ${one.effect.target.outerHTML.slice(0, 60)}`),

  cutOff: () => Array.from(document.querySelectorAll("body *"))
    .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden, svg"))
    .filter((one) => /hidden|clip/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 2)
    .filter((one) => one.innerText?.trim())
    .filter((one) => getComputedStyle(one).textOverflow !== "ellipsis" && getComputedStyle(one).clipPath === "none")
    .map((one) => `cut off: ${one.outerHTML.slice(0, 110)}`),

  // Collects how far the page moves content while it loads: until a message or a poll brings its transfer again.
  collectShifts: () => {
    window.shifts = [];
    const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    const stop = () => {
      shifts.push(...observer.takeRecords());
      observer.disconnect();
    };
    observer.observe({ type: "layout-shift", buffered: true });
    document.addEventListener("htmx:sse:before:message", stop);
    document.addEventListener("htmx:before:swap", ({ detail }) => detail.ctx.text?.includes("data-now=") && stop());
  },

  // How far that is, without shifts after input (web.dev/cls), and what moved.
  shifted: () => {
    const name = ({ node }) => node?.outerHTML?.slice(0, 60) ?? node?.textContent ?? "removed";
    const unexpected = shifts.filter(({ hadRecentInput }) => !hadRecentInput);
    const sum = unexpected.reduce((all, { value }) => all + value, 0);
    const moved = unexpected.flatMap(({ sources }) => sources.map(name));
    return sum > 0.02 ? [`moved by ${sum.toFixed(3)}: ${moved.join(" | ")}`] : [];
  },

  tooLong: () => {
    const { scrollHeight } = document.documentElement;
    return scrollHeight > 8_000 ? [`${scrollHeight} px long`] : [];
  },

  enlarge: (size) => { document.documentElement.style.fontSize = size; },

  // Visible controls that do nothing: without a form or a URL.
  dead: () => {
    const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const leads = (link) => {
      const href = link.getAttribute("href");
      if (href === null || /^javascript:/i.test(href)) return false;
      return !href.startsWith("#") || document.getElementById(decodeURIComponent(href.slice(1))) !== null;
    };
    const opens = (button) => button.popoverTargetElement
      || (button.commandForElement && /^(show-modal|close|.*-popover)$/.test(button.getAttribute("command")));
    const sends = (button) => button.form && button.type === "submit";
    const asks = (field) => field.form || field.readOnly;
    const fields = (form) => Array.from(form.elements)
      .filter((each) => each.matches("input:not([type=hidden], [type=checkbox], [type=radio])"));
    const isSent = (form) => Array.from(form.elements).some((each) => each.type === "submit")
      || (fields(form).length === 1 && !form.querySelector("textarea, select"));
    const dead = (element) => {
      if (element.matches("button")) return !sends(element) && !opens(element);
      if (element.matches("input, select, textarea")) return !asks(element);
      if (element.matches("form")) return !isSent(element);
      if (element.matches("summary")) return !element.parentElement.matches("details");
      if (element.matches("a")) return !leads(element);
      return !element.querySelector("a[href], button, input, select, textarea");
    };
    const controls = "a, button, input, select, textarea, form, summary, [role=button], [role=link], [role=tab], "
      + "[role=switch], [role=checkbox], [data-scripted], [contenteditable], [hx-trigger*=click], [onclick]";
    return Array.from(document.querySelectorAll(controls)).filter(seen).filter(dead)
      .map((element) => element.outerHTML.slice(0, 120));
  },

  // Rows of a long list are alike, so the first ones represent the rest.
  shorten: () => document.querySelectorAll('tbody > tr:nth-child(n + 13)').forEach((row) => row.remove()),

  byShape: () => {
    const names = new WeakMap([[document.documentElement, ""]]);
    const word = ({ name, value }) => /^(class|type|role|open|hidden|disabled|aria-[a-z]+|data-[a-z-]+)$/.test(name)
      && (name === "class" || /^[a-z-]{0,20}$/i.test(value)) ? `${name}=${value}` : name;
    const shape = (one) => {
      if (!names.has(one))
        names.set(one, `${shape(one.parentElement)}>${one.localName}[${Array.from(one.attributes, word).join(" ")}]`);
      return names.get(one);
    };
    window.hasWords = (one) => Array.from(one.childNodes).some(({ nodeType, data }) => nodeType === 3 && data.trim());
    const among = (one) => hasWords(one.parentElement) ? " among words" : "";
    const speaks = (one) => one.matches("input, select, textarea, button, summary, a")
      || hasWords(one)
      || ["::before", "::after"].some((part) => /["(]/.test(getComputedStyle(one, part).content));
    window.byShape = new Map();
    for (const one of document.body.querySelectorAll(":not(svg *, script)")) {
      if (!speaks(one)) continue;
      const its = shape(one) + among(one);
      byShape.set(its, [byShape.get(its)?.[0] ?? one, one]);
    }
    return Array.from(byShape.keys());
  },

  // An open menu covers what is below it, and never two of them are open. In the flow they cover nothing.
  uncover: () => {
    for (const part of document.querySelectorAll("details[open] > :not(summary)"))
      if (getComputedStyle(part).position === "absolute") part.style.position = "static";
  },

  runAxe: async ([shapes, rules, ofShapes, isWhole]) => {
    const include = shapes.flatMap((each) => byShape.get(each)).filter((each) => each.isConnected);
    if (!isWhole && !include.length) return [];
    include.forEach((each) => each.setAttribute("data-looked-at", ""));
    axe.configure({ rules: Object.entries(ofShapes).map(([id, selector]) => ({ id, selector })) });
    const { violations } = isWhole ? await axe.run(document, rules)
      : await axe.run({ include }, { ...rules, runOnly: Object.keys(ofShapes) });
    include.forEach((each) => each.removeAttribute("data-looked-at"));
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n  ${failureSummary}`));
  },

  // Without the navigation's menus, which cover the page. test_navigation.py opens them.
  unfold: () => {
    const folds = document.querySelectorAll("details:not(.nav-menu)");
    folds.forEach((fold) => fold.removeAttribute("name"));
    folds.forEach((fold) => { fold.open = true; });
  },

  // The text of each part that is inside the window and above the action bar.
  seen: (parts) => {
    const bar = document.querySelector(".bar-actions").getBoundingClientRect();
    return Object.fromEntries(Object.entries(parts).map(([name, selector]) => {
      const part = document.querySelector(selector);
      const box = part.getBoundingClientRect();
      const isSeen = box.height > 0 && box.top >= 0 && box.bottom <= bar.top && box.right <= innerWidth;
      return [name, isSeen ? part.innerText : ""];
    }));
  },

  listenToStatus: () => {
    window.told = [];
    const said = document.getElementById("said");
    new MutationObserver(() => said.textContent.trim() && told.push(said.textContent.trim()))
      .observe(said, { childList: true, characterData: true, subtree: true });
  },

  // Return the origins whose message fills the form.
  originsRead: ([origins, data]) => {
    const form = document.getElementById("lookup");
    form.requestSubmit = () => {};
    return origins.filter((origin) => {
      form.elements.q.value = "";
      dispatchEvent(new MessageEvent("message", { source: parent, origin, data }));
      return form.elements.q.value !== "";
    });
  },

  // What Chatwoot does: it answers requests of the frame with the open conversation.
  answerAsChatwoot: (conversation) => {
    if (window !== top) return;
    window.conversation = conversation;
    addEventListener("message", ({ data, source }) => {
      if (data === "chatwoot-dashboard-app:fetch-info") source.postMessage(window.conversation, "*");
    });
  },

  // How the selected option differs from the others in forced colors.
  isDistinct: (chosen) => {
    const look = (one) => {
      const { color, backgroundColor, borderColor, borderWidth, outlineStyle, textDecorationLine, fontWeight }
        = getComputedStyle(one);
      return [color, backgroundColor, borderColor, borderWidth, outlineStyle, textDecorationLine, fontWeight].join();
    };
    const all = Array.from(chosen.closest("nav, [role=group], ul, p").querySelectorAll("a:not([aria-current])"));
    return all.length > 0 && all.every((each) => look(each) !== look(chosen));
  },

  // Hides or shows the tab.
  hide: hidden => {
    Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
    document.hasFocus = () => !hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  },

  // Records the states that the page shows, and the announcements of live regions.
  listen: () => {
    window.readOut = [];
    window.seen = [];
    const regions = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]";
    const look = () => {
      const { state } = document.querySelector("#state[data-state]").dataset;
      if (state !== seen.at(-1)) seen.push(state);
    };
    new MutationObserver((changes) => {
      const spoke = new Set();
      for (const { target, addedNodes } of changes)
        for (const node of [target, ...addedNodes]) {
          const region = (node.closest ? node : node.parentElement)?.closest(regions);
          if (region?.isConnected && region.textContent.trim()) spoke.add(region.textContent.trim());
        }
      readOut.push(...spoke);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    new MutationObserver(look).observe(document.body, { attributes: true, subtree: true, childList: true });
    look();
  },
})
