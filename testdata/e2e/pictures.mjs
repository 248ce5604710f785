// Makes the pictures of the documentation from a real server: make pictures. The table names every
// picture; a test of docs compares it with the files and the pages.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { signUpFirst, startBrowser } from './support/browser.mjs';
import { makeLifelike, settled } from './support/lifelike.mjs';
import { edge, node } from './support/maps.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const at = (x, one) => ({ ...one, position: { x, y: 0 } });

/** The pictures: file, size of the screen, and a function that opens what is shown. */
const pictures = [
  { file: 'docs/pictures/run.webp', viewport: { width: 1280, height: 1130 }, open: openRun },
  { file: 'docs/pictures/editor.webp', viewport: { width: 1280, height: 760 }, open: openEditor },
  { file: 'docs/pictures/status.webp', viewport: { width: 1280, height: 1100 }, open: openStatus },
  { file: 'docs/pictures/leave-requests.webp', viewport: { width: 1280, height: 460 }, open: openLeave },
  { file: 'docs/pictures/approval-link.webp', viewport: { width: 640, height: 390 }, open: openApprovalLink },
  { file: 'docs/pictures/save-as-test.webp', viewport: { width: 900, height: 620 }, open: openTest },
];

let server, browser;
try {
  server = await startServer({ flags: ['--rate-limit', '0'] });
  browser = await startBrowser(server);
  const data = await makeLifelike(server);
  const { page } = await signUpFirst(browser, server);
  const stranger = await browser.person();
  for (const { file, viewport, open } of pictures) {
    for (const one of [page, stranger.page]) await one.setViewportSize(viewport);
    const shown = await open({ page, stranger: stranger.page, ...data });
    await shown.evaluate(() => document.fonts.ready);
    const image = await shown.screenshot({ type: 'webp', quality: 75, animations: 'disabled' });
    await writeFile(root + file, image);
    console.log(`${file}: ${image.length} bytes`);
  }
  await browser.check();
} finally {
  await stopAll(browser, server);
}

async function openRun({ page, runs, shop }) {
  await page.goto(`/runs/${runs.approval}`);
  await settled(page, shop.title);
  await page.getByRole('treeitem', { name: /Write the letter/ }).waitFor();
  return page;
}

async function openEditor({ page, shop }) {
  await page.goto(`/blueprints/${shop.id}/edit`);
  const canvas = page.getByRole('group', { name: 'Canvas' });
  await canvas.getByRole('button', { name: /^Trigger: / }).waitFor();
  await canvas.getByRole('group', { name: /Is it large/ }).press('Enter');
  await page.getByRole('complementary', { name: 'Settings' }).getByText('Click a value to insert its path.').waitFor();
  await settled(page, shop.title);
  return page;
}

async function openStatus({ page }) {
  await page.goto('/settings/status');
  await page.getByRole('link', { name: 'Monday morning' }).waitFor();
  await settled(page, 'Status');
  return page;
}

/** The blueprint of docs/getting-started.md. */
async function openLeave({ page, client }) {
  const nodes = [
    at(0, node('summary', 'template', { text: '{{inputData.name ?? "Everyone"}} asks for {{inputData.days ?? 1}} days off' }, { title: 'Summary' })),
    at(320, node('decision', 'approval-gate', { prompt: '{{nodes.summary.output.text}}' }, { title: 'Manager decides' })),
    at(640, node('note', 'log', { level: 'info', message: 'approved: {{nodes.summary.output.text}}' }, { title: 'Log the decision' })),
  ];
  const { id } = await client.blueprint.create.mutate({ title: 'Leave requests', blueprint_map: { nodes } });
  await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'webhook', config: { secret: 'a-secret-of-your-own' } });
  await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'scheduled', config: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' } });
  await page.goto(`/blueprints/${id}/edit`);
  await page.getByRole('button', { name: /^Trigger: / }).nth(1).waitFor();
  await settled(page, 'Leave requests');
  return page;
}

async function openApprovalLink({ page, stranger, client }) {
  const nodes = [node('approve', 'approval-gate', { prompt: 'Send the order of Ada for 270 euros?' }, { title: 'Approve the order' })];
  const { id } = await client.blueprint.create.mutate({ title: 'Order', blueprint_map: { nodes } });
  const { executionId } = await client.blueprint.execute.mutate({ id });
  await reached(client, executionId, 'paused');
  await page.goto(`/runs/${executionId}`);
  await page.getByRole('button', { name: 'Copy approval link' }).click();
  await stranger.goto(await page.getByRole('group', { name: 'Approval link' }).getByRole('code').innerText());
  await stranger.getByRole('heading', { name: 'Approve the order' }).waitFor();
  return stranger;
}

async function openTest({ page, client }) {
  const nodes = [at(0, node('total', 'transform', { expression: 'inputData.price * inputData.count' }, { title: 'Total' })), at(320, node('confirm', 'template', { text: 'Ordered for {{input}}' }, { title: 'Confirm' }))];
  const { id } = await client.blueprint.create.mutate({ title: 'Order', blueprint_map: { nodes, edges: [edge('total', 'confirm')] } });
  const { executionId } = await client.blueprint.execute.mutate({ id, inputData: { price: 999, count: 2 }, record: true });
  await ended(client, executionId);
  await page.goto(`/runs/${executionId}`);
  await settled(page, 'Order');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: /Save as test/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /\.test\.yaml/, expanded: false }).click();
  await page.getByRole('region', { name: /^Content of/ }).waitFor();
  return page;
}
