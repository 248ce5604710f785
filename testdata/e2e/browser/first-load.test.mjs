// The cost of a first visit: compressed bytes with an empty cache, and layout shift while
// loading. Code that a page loads later (the graph library, schema forms, the traffic of a run,
// the catalogue of node types) is counted separately; the editor uses all of it, so its bytes
// are measured without a limit.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { desktop, phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { makeLifelike, pagesOf, visit } from '../support/lifelike.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const mostBytes = 300 * 1024; // as web/scripts/sizes.mjs counts
const mostShift = 0.02;

let server, browser, ada, pages;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  browser = await startBrowser(server);
  ada = await signUpFirst(browser, server);
  pages = pagesOf(await makeLifelike(server));
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

/** Visits a page in a new context with an empty cache. Returns bytes and layout shift. */
async function measure(one, viewport) {
  const person = await browser.person({ viewport, storageState: await ada.context.storageState() });
  const { page, context } = person;
  await page.addInitScript(() => {
    window.__shift = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
  });
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let [bytes, after] = [0, 0];
  const later = new Set();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => { if (/\/assets\/(graph-canvas|schema-form|answer-human|run-more)-|\/trpc\/node\.types\?/.test(request.url)) later.add(requestId); });
  session.on('Network.dataReceived', ({ requestId, encodedDataLength }) => { if (later.has(requestId)) after += encodedDataLength; else bytes += encodedDataLength; });
  await visit(page, one);
  const shift = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.__shift)))));
  await person.close();
  return { bytes, after, shift };
}

describe('first visit', { concurrency: 2 }, () => {
  for (const [screen, viewport] of Object.entries({ desktop, phone })) {
    test(screen, async (t) => {
      const wrong = [];
      for (const one of pages) {
        const { bytes, after, shift } = await measure(one, viewport);
        t.diagnostic(`${one.name}: ${Math.round(bytes / 1000)} kB${after ? `, then ${Math.round(after / 1000)} kB for graphs and forms` : ''}, layout shift ${shift.toFixed(4)}`);
        if (one.name !== 'editor' && bytes > mostBytes) wrong.push(`${one.name}: ${bytes} bytes`);
        if (shift > mostShift) wrong.push(`${one.name}: layout shift ${shift}`);
      }
      assert.deepEqual(wrong, []);
    });
  }
});
