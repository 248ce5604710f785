// What a first visit costs: bytes over the wire with an empty cache, and how much
// the page moves while it comes.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { desktop, phone, signUpFirst, startBrowser } from '../support/browser.mjs';
import { makeLifelike, pagesOf, visit } from '../support/lifelike.mjs';
import { startServer, stopAll } from '../support/server.mjs';

const mostBytes = 300_000;
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

/** Visits a page in a context of its own, whose cache is empty. Gives bytes and layout shift. */
async function measure(one, viewport) {
  const person = await browser.person({ viewport, storageState: await ada.context.storageState() });
  const { page, context } = person;
  await page.addInitScript(() => {
    window.__shift = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });
  });
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await visit(page, one);
  const shift = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(window.__shift)))));
  await person.close();
  return { bytes, shift };
}

for (const [screen, viewport] of Object.entries({ desktop, phone })) {
  test(`first visits, ${screen}`, async (t) => {
    const wrong = [];
    for (const one of pages) {
      const { bytes, shift } = await measure(one, viewport);
      t.diagnostic(`${one.name}: ${Math.round(bytes / 1000)} kB, layout shift ${shift.toFixed(4)}`);
      if (bytes > mostBytes && one.name !== 'editor') wrong.push(`${one.name}: ${bytes} bytes`);
      if (shift > mostShift) wrong.push(`${one.name}: layout shift ${shift}`);
    }
    assert.deepEqual(wrong, []);
  });
}
