// The server's clock. The device's may be wrong, so ages, countdowns and refreshes follow the time of the response.
const serverClock = {
  ahead: 0, // of the device's clock, in milliseconds
  now: () => Date.now() + serverClock.ahead,
};

{
  const [load] = performance.getEntriesByType("navigation");
  const received = Date.now() - performance.now() + (load?.responseStart ?? 0);
  serverClock.ahead = Date.parse(document.documentElement.dataset.made) - received;
  try {
    // A document from the browser's cache is old. Use what this tab measured before.
    if (load?.transferSize < load?.encodedBodySize) serverClock.ahead = Number(sessionStorage.getItem("clock"));
    sessionStorage.setItem("clock", serverClock.ahead);
  } catch {
    // Storage may be unavailable.
  }
}
