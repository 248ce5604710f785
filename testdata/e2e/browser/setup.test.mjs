// From the first start to signing in: the link printed by serve, the password, signing out and
// in again, and the lock after wrong passwords.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { again, PASSWORD, setupLink, signUp, startBrowser } from '../support/browser.mjs';
import { startServer, stopAll } from '../support/server.mjs';

let server, browser, ada;
before(async () => {
  server = await startServer({ flags: ['--rate-limit', '0'], onDisk: true });
  browser = await startBrowser(server);
});
afterEach(() => browser.check());
after(() => stopAll(browser, server));

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const signIn = async (page, password, email = 'ada@example.org') => {
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};
const signOut = async (page) => {
  await page.getByRole('button', { name: /account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await heading(page, 'Sign in');
};

test('accepts the setup link once', async () => {
  ada = await browser.person();
  const { page } = ada;
  const link = setupLink(server);
  ada.allow('session.get', 401);
  await page.goto(link);
  await heading(page, 'Welcome to blueprintd');
  assert.equal(new URL(page.url()).search, '', 'the token leaves the address at once');
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByRole('textbox', { name: 'Email', exact: true }).fill('ada@example.org');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: 'Get started' }).click();
  await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor(); // refused at its field, which gets the focus
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await heading(page, 'Blueprints');
  await page.getByRole('link', { name: 'New blueprint' }).or(page.getByRole('button', { name: 'New blueprint' })).first().waitFor();

  const { page: second, allow } = await browser.person();
  allow('session.get');
  await second.goto(link);
  await heading(second, 'Invalid or expired link');
  await second.getByText('blueprintd user link').waitFor();
  await second.getByRole('link', { name: 'Go to sign-in' }).click();
  await heading(second, 'Sign in');
});

test('signs out and in again and returns to the same page', async () => {
  const { page } = ada;
  await page.goto('/settings/limits');
  await heading(page, 'Limits');
  await signOut(page);
  await page.goto('/settings/limits');
  await heading(page, 'Sign in');
  ada.allow('session.create', 401);
  await signIn(page, 'not her password at all');
  await page.getByRole('alert').filter({ hasText: 'Wrong email or password' }).waitFor();
  await signIn(page, PASSWORD);
  await heading(page, 'Limits');
  assert.equal(new URL(page.url()).pathname, '/settings/limits');
  await page.reload();
  await heading(page, 'Limits');
});

test('sets a forgotten password with a link from the command line', async () => {
  const said = await server.command('user', 'link', '--email', 'ada@example.org');
  const next = await signUp(await browser.person(), `${server.apiHost}/setup?token=${/token=(\S+)/.exec(said)[1]}`, { password: 'eleven otters cross the river' });
  await signOut(next.page);
  next.allow('session.create', 401);
  await signIn(next.page, PASSWORD);
  await next.page.getByText('Wrong email or password').waitFor();
  await signIn(next.page, 'eleven otters cross the river');
  await heading(next.page, 'Blueprints');
});

test('ends the other sessions on signing out everywhere', async () => {
  const here = await browser.person();
  here.allow('session.get', 401);
  await here.page.goto('/signin');
  await signIn(here.page, 'eleven otters cross the river');
  await heading(here.page, 'Blueprints');
  const there = await again(browser, here);
  await there.page.goto('/settings/profile');
  await heading(there.page, 'Profile');
  await here.page.goto('/settings/profile');
  await here.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await here.page.getByRole('dialog').getByRole('button', { name: /sign out/i }).click();
  await heading(here.page, 'Sign in');
  there.allow('', 401);
  await there.page.getByRole('link', { name: 'Runs' }).click();
  await heading(there.page, 'Sign in');
});

test('locks an account after failed sign-ins and shows for how long', async () => {
  const thief = await browser.person();
  thief.allow('session.get', 401);
  thief.allow('session.create');
  await thief.page.goto('/signin');
  await heading(thief.page, 'Sign in');
  const statuses = await thief.page.evaluate(async () => {
    const answers = [];
    for (let guess = 0; guess < 12; guess++) {
      const { status } = await fetch('/app/trpc/session.create', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ json: { email: 'ada@example.org', password: `guess number ${guess}` } }) });
      answers.push(status);
      if (status === 429) break;
    }
    return answers;
  });
  assert.deepEqual([statuses.at(-1), statuses.length > 5], [429, true], 'it takes some failures, and then it waits');
  await signIn(thief.page, 'eleven otters cross the river'); // even the right one
  await thief.page.getByText('Too many failed attempts').waitFor();
  await thief.page.getByRole('timer').waitFor();
  assert.equal(await thief.page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled(), true);
});
