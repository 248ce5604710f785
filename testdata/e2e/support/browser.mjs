// Debian's Chromium and Firefox, driven by Playwright: tests find elements by role and name. A test fails
// if a page does what no page may do (errors, unexpected failed calls, a violation of the
// content policy, a request to another host, a browser dialog).
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, firefox } from 'playwright-core';

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

/** Width and height of the tested screens. */
export const desktop = { width: 1440, height: 900 };
export const laptop = { width: 1280, height: 800 };
export const tablet = { width: 820, height: 1100 };
export const phone = { width: 360, height: 740 };

/** The password of each user that {@link signUp} creates. */
export const PASSWORD = 'a heron stands in the reeds';

const startChromium = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: flags });

/** Debian's Firefox over WebDriver BiDi, in light colours unless a page sets its own scheme. */
async function startFirefox() {
  const browser = await firefox.launch({
    channel: 'moz-firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', headless: true,
    firefoxUserPrefs: { 'layout.css.prefers-color-scheme.content-override': 1, 'ui.prefersReducedMotion': 1 },
  });
  // Playwright sets media features of each page, by a command that this version of Firefox does not know.
  const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
  const { send } = session;
  session.send = async function sendKnown(method, parameters) {
    return method === 'emulation.setMediaFeaturesOverride' ? {} : send.call(this, method, parameters);
  };
  return browser;
}

// In Firefox, Playwright fills in a field by setting its value, which React takes for its own change.
function tellReact() {
  addEventListener('input', (event) => {
    if (!event.isTrusted) event.target._valueTracker?.setValue('\0');
  }, true);
}

/**
 * Starts one browser with its own profile, for one server.
 * Returns person(options): a page in its own context (cookies, storage) with options of Playwright;
 * check(), which fails if anything went wrong in any page so far; and stop().
 */
export async function startBrowser(server, { inFirefox = false } = {}) {
  const browser = await (inFirefox ? startFirefox() : startChromium());
  const people = [];
  let pictures = 0;

  async function person({ scheme = 'light', viewport = desktop, ...options } = {}) {
    const mobile = viewport.width < 500; // like a phone: touch, and scroll bars that take no space
    const context = await browser.newContext({ baseURL: server.apiHost, viewport, isMobile: mobile, hasTouch: mobile, colorScheme: scheme, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
    if (inFirefox) await context.addInitScript(tellReact);
    else await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.apiHost });
    context.setDefaultTimeout(10_000);
    const guard = watch(context, server.apiHost);
    await guard.ready;
    const page = await context.newPage();
    const one = { page, context, allow: guard.allow, wrong: guard.wrong, close: () => context.close() };
    people.push(one);
    return one;
  }

  async function check() {
    // BROWSER_DEBUG=folder stores every page after each test, as a picture and as text.
    const folder = process.env.BROWSER_DEBUG;
    if (folder) {
      for (const [i, { page }] of people.entries()) {
        if (page.isClosed()) continue;
        await page.screenshot({ path: join(folder, `${++pictures}-person${i}.png`) });
        await writeFile(join(folder, `${pictures}-person${i}.txt`), `${page.url()}\n${await page.locator('body').ariaSnapshot()}`);
      }
    }
    const wrong = people.flatMap((one) => one.wrong.splice(0));
    assert.deepEqual(wrong, [], `the pages did what they never should:\n${wrong.join('\n')}`);
  }

  return { person, check, stop: () => browser.close() };
}

// Records in `wrong` what no page may do.
function watch(context, origin) {
  const wrong = [];
  const allowed = []; // {path, status}
  const note = (text) => wrong.push(text);

  context.on('console', (message) => {
    // Failed loads are judged below, by their status.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) note(`console: ${message.text()} (${message.page()?.url()})`);
  });
  context.on('weberror', (event) => {
    // Firefox reports violations of the policy as errors too.
    const { stack } = event.error();
    if (!stack.startsWith('Content-Security-Policy: ')) note(`error: ${stack}`);
  });
  context.on('dialog', (dialog) => {
    // A page with unsaved changes may ask; nothing else opens browser dialogs.
    if (dialog.type() !== 'beforeunload') note(`dialog: ${dialog.type()} ${dialog.message()}`);
    void dialog.accept().catch(() => undefined);
  });
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:', 'about:'].includes(url.protocol)) note(`a request to elsewhere: ${request.method()} ${url.href.slice(0, 300)}`);
  });
  context.on('requestfailed', (request) => {
    // Leaving a page aborts its pending requests.
    if (!['net::ERR_ABORTED', 'NS_BINDING_ABORTED'].includes(request.failure()?.errorText)) note(`failed: ${request.method()} ${request.url().slice(0, 300)} ${request.failure()?.errorText}`);
  });
  context.on('response', (response) => {
    const { pathname } = new URL(response.url());
    const status = response.status();
    if (status < 400 || allowed.some((one) => pathname.includes(one.path) && (one.status === undefined || one.status === status))) return;
    note(`${status}: ${response.request().method()} ${response.url().slice(0, 300)}`);
  });
  const ready = (async () => {
    await context.exposeBinding('__wrong', (_source, text) => note(text));
    await context.addInitScript(() => {
      // What is evaluated is the driver's, because the policy forbids eval: in Firefox it adds a style for a picture.
      document.addEventListener('securitypolicyviolation', (event) => /%20eval$/.test(event.sourceFile) || window.__wrong(`policy: ${event.violatedDirective} ${event.blockedURI} at ${event.sourceFile}:${event.lineNumber} on ${location.href}`));
    });
  })();
  return {
    wrong, ready,
    /** Permits responses with this status (default: any) to paths that contain the text from now on. */
    allow: (path, status) => allowed.push({ path, status }),
  };
}

/** The setup link of the server's owner, as serve prints it. */
export function setupLink(server) {
  const link = /http:\S+\/setup\?token=\S+/.exec(server.said())?.[0];
  assert.ok(link, `serve prints no link:\n${server.said()}`);
  return link;
}

/** Opens a setup link, fills in its form, and waits for the first page. Permits the 401 before that. */
export async function signUp(one, link, { name, email, password = PASSWORD } = {}) {
  const { page } = one;
  one.allow('session.get', 401);
  await page.goto(link);
  if (name) await page.getByLabel('Name').fill(name);
  if (email) {
    const field = page.getByLabel('Email');
    await field.clear(); // in Firefox, Playwright adds to the value of such a field
    await field.fill(email);
  }
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: /^(Get started|Set password and sign in)$/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Blueprints' }).waitFor();
  return one;
}

/** The owner, signed in. */
export const signUpFirst = async (browser, server, options) => signUp(await browser.person(options), setupLink(server), { name: 'Ada Lovelace', email: 'ada@example.org' });

/** Creates another user and signs in; the server must be on disk. */
export async function signUpOther(browser, server, { email, name }, options) {
  await server.command('user', 'add', '--email', email, '--name', name);
  const said = await server.command('user', 'link', '--email', email);
  const token = /token=(\S+)/.exec(said)[1];
  return signUp(await browser.person(options), `${server.apiHost}/setup?token=${token}`, {});
}

/** Opens a page of the same user in another context (screen or colour scheme) without signing in again. */
export async function again(browser, one, options) {
  const other = await browser.person({ storageState: await one.context.storageState(), ...options });
  return other;
}
