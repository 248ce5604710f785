// A user with a browser: cookies, links and forms, enough for signing in.
import assert from 'node:assert/strict';

/** A browser without cookies. */
export function openBrowser() {
  const jars = new Map(); // cookies by host and port

  /** Sends one request and keeps the cookies of its answer. */
  async function send(address, init = {}) {
    const { host } = new URL(address);
    const jar = jars.get(host) ?? jars.set(host, new Map()).get(host);
    const response = await fetch(address, {
      redirect: 'manual', ...init,
      headers: {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', accept: 'text/html', ...init.headers,
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0].split(/=(.*)/s);
      if (value) jar.set(name, value); else jar.delete(name);
    }
    return response;
  }

  const browser = {
    visited: [],
    /** Follows redirects to a page: {url, status, text, headers}. Stops before a URL for which until(url) is true. */
    async visit(address, { until, ...init } = {}) {
      let url = address;
      let response = await send(url, init);
      browser.visited.push(url);
      for (let hops = 0; response.headers.has('location'); hops++) {
        assert.ok(hops < 20, 'redirected in circles');
        await response.arrayBuffer();
        url = new URL(response.headers.get('location'), url).href;
        if (until?.(url)) return { url };
        browser.visited.push(url);
        response = await send(url);
      }
      return { url, status: response.status, text: await response.text(), headers: response.headers };
    },
    /** Follows the only link of a page. */
    async click(page, options) {
      const links = [...page.text.matchAll(/<a href="([^"]+)"/g)];
      assert.equal(links.length, 1, page.text);
      return browser.visit(new URL(links[0][1].replaceAll('&amp;', '&'), page.url).href, options);
    },
    /** Presses a button in each form until there is none. */
    async answer(page, answer, options) {
      let next = page;
      while (next.text?.includes('<form')) {
        next = await browser.visit(next.url, { method: 'POST', body: new URLSearchParams({ answer }), ...options });
      }
      return next;
    },
    /** The whole flow: opens the sign-in page, continues, and allows or denies. */
    async signIn(address, answer = 'allow', options) {
      const invitation = await browser.visit(address);
      assert.equal(invitation.status, 200, invitation.text);
      return browser.answer(await browser.click(invitation, options), answer, options);
    },
  };
  return browser;
}
