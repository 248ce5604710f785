// The data of a small company, so that pages look realistic: blueprints of several kinds,
// triggers, completed, failed and waiting runs, connections, an organization, keys.
import { connect } from './clients.mjs';
import { edge, node } from './maps.mjs';
import { ended, reached } from './poll.mjs';

const at = (x, y, one) => ({ ...one, position: { x, y } });

const orders = {
  nodes: [
    at(0, 80, node('order', 'set', { values: { id: '{{inputData.id ?? "1042"}}', total: '{{inputData.total ?? 129.5}}' } }, { title: 'Read the order' })),
    at(320, 80, node('large', 'conditional', { condition: 'input.total > 100' }, { title: 'Is it large?' })),
    at(640, 0, node('ask', 'approval-gate', { prompt: 'Order {{nodes.order.output.id}} is worth {{nodes.order.output.total}} EUR. Ship it?' }, { title: 'Ask the shop' })),
    at(640, 190, node('small', 'template', { text: 'Order {{nodes.order.output.id}} ships by itself.' }, { title: 'Ship at once' })),
    at(960, 0, node('letter', 'template', { text: 'Dear customer, order {{nodes.order.output.id}} is on its way to {{city}}.' }, { title: 'Write the letter' })),
  ],
  edges: [edge('order', 'large'), edge('large', 'ask', 'true'), edge('large', 'small', 'false'), edge('ask', 'letter', 'approved')],
};

const survey = {
  nodes: [
    node('form', 'human', {
      prompt: 'Which room shall the team meet in, and how many come?',
      schema: {
        type: 'object', required: ['room', 'people'],
        properties: { room: { type: 'string', title: 'Room', enum: ['Library', 'Garden', 'Attic'] }, people: { type: 'integer', title: 'How many come', minimum: 1, maximum: 40 }, note: { type: 'string', title: 'Anything else' } },
      },
    }, { title: 'Ask for the room' }),
    node('booking', 'template', { text: '{{input.people}} people in the {{input.room}}' }, { title: 'Book it' }),
  ],
};

const report = {
  nodes: [
    at(0, 0, node('rows', 'code', { source: 'return Array.from({ length: 12 }, (_, i) => ({ week: i + 1, sold: 40 + (i * 37) % 60 }))' }, { title: 'Read the sales' })),
    at(320, 0, node('each', 'for-each', { items: '{{input}}', nodes: [node('line', 'template', { text: 'Week {{item.week}}: {{item.sold}}' })], concurrency: 4 }, { title: 'One line a week' })),
    at(640, 0, node('mail', 'log', { message: 'The report is ready' }, { title: 'Tell everybody' })),
  ],
  edges: [edge('rows', 'each'), edge('each', 'mail')],
};

const broken = {
  nodes: [
    node('stock', 'set', { values: { left: 0 } }, { title: 'Look at the stock' }),
    node('halt', 'stop', { failed: true, message: 'Nothing is left of article 77: order more from the supplier, then retry' }, { title: 'Is there enough?' }),
    node('pack', 'set', { values: { packed: true } }, { title: 'Pack' }),
  ],
};

const more = [
  ['Invoices to the ledger', 'Reads invoices from the mailbox, asks the model for the totals and writes them to the ledger.', ['finance', 'mail']],
  ['Greet new customers', 'A letter on the first day, a call after a week.', ['customers']],
  ['Nightly backup check', 'Fails loudly when last night\'s backup is smaller than the one before.', ['ops', 'nightly']],
  ['Weather for the delivery vans', '', ['ops']],
  ['Translate product texts', 'German, French and Polish, with a person who reads them over.', ['products', 'ai']],
  ['Incident to Slack', 'Turns alerts into one thread per incident, however many there are.', ['ops', 'slack']],
];

/** Creates the data as the server's owner. Returns client and the IDs of what the pages show. */
export async function makeLifelike(server) {
  const client = connect(server.baseUrl, server.key);
  const organization = await client.organization.create.mutate({ name: 'Northwind Shop' });
  const make = (title, blueprint_map, extra = {}) => client.blueprint.create.mutate({ title, blueprint_map, organization_id: organization.id, ...extra });

  for (const [title, description, tags] of more) await make(title, { nodes: [node('start', 'set', { values: { ready: true } })] }, { description, tags, status: 'published' });
  const shop = await make('Ship the orders', orders, {
    description: 'Small orders leave at once; large ones wait until somebody of the shop has looked at them.', status: 'published', tags: ['orders', 'shop'],
    environment_variables: [
      { name: 'city', type: 'string', default: 'Lisbon', description: 'Where parcels go that name no city' },
      { name: 'carrier_key', type: 'string', secret: true, default: 'swordfish', description: 'What the carrier knows us by' },
    ],
  });
  const meeting = await make('Book a room', survey, { status: 'published', tags: ['office'] });
  const sales = await make('Weekly sales report', report, { status: 'published', tags: ['finance', 'weekly'] });
  const stock = await make('Watch the stock', broken, { tags: ['shop'] });
  await client.blueprint.update.mutate({ id: shop.id, blueprint_map: { ...orders, nodes: orders.nodes.map((one) => (one.id === 'letter' ? { ...one, config: { text: `${one.config.text}\nYours, the shop` } } : one)) } });
  const category = await client.category.create.mutate({ name: 'Fulfilment', organizationId: organization.id });
  await client.blueprint.setCategories.mutate({ id: shop.id, categoryIds: [category.id] });
  await client.blueprint.favorite.mutate({ id: shop.id });
  await client.blueprint.rate.mutate({ id: shop.id, rating: 4 });
  await client.blueprint.update.mutate({ id: sales.id, visibility: 'public' });

  const trigger = (blueprint, triggerType, config) => client.blueprintTriggers.create.mutate({ blueprintId: blueprint.id, triggerType, config });
  const webhook = await trigger(shop, 'webhook', { label: 'Orders of the web shop', secret: 'a secret of forty letters, more or less' });
  const schedule = await trigger(sales, 'scheduled', { cron: '30 7 * * 1', timezone: 'Europe/Berlin', label: 'Monday morning' });
  await trigger(stock, 'event', { event: 'execution.failed' });
  await trigger(meeting, 'api', { label: 'From the intranet' });
  await trigger(meeting, 'manual', {});

  const { url } = await client.blueprintTriggers.getWebhookUrl.query({ triggerId: webhook.id });
  await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', 'x-webhook-signature': 'sha256=00' }, body: '{"id":"1043","total":12}' });

  const run = async (blueprint, inputData) => (await client.execution.executeBlueprintWithLogging.mutate({ ...blueprint.blueprint_map, options: { blueprintId: blueprint.id, inputData } })).executionId;
  for (let i = 0; i < 12; i++) await ended(client, await run(shop, { id: String(1030 + i), total: 20 + i }));
  const failed = await run(stock);
  const completed = await run(sales);
  await ended(client, failed);
  await ended(client, completed);
  const approval = await run(shop, { id: '1042', total: 240 });
  const form = await run(meeting);
  await reached(client, approval, 'paused');
  await reached(client, form, 'paused');

  const connection = await client.connection.create.mutate({ name: 'Models of the office', type: 'ai-provider', config: { provider: 'openai', apiKey: 'sk-lifelike-0123456789' }, organizationId: organization.id });
  await client.connection.create.mutate({ name: 'Slack of the shop', type: 'slack', config: { botToken: 'xoxb-lifelike-0123456789' }, organizationId: organization.id });
  await client.apiKey.create.mutate({ name: 'Backup script' });
  const old = await client.apiKey.create.mutate({ name: 'Old laptop' });
  await client.apiKey.revoke.mutate({ id: old.id });
  return { client, organization, category, shop, meeting, sales, stock, webhook, schedule, connection, runs: { completed, failed, approval, form } };
}

/** Every page of the dashboard with that data: its name, path, and the heading that shows it is loaded. */
export const pagesOf = ({ organization, shop, sales, stock, webhook, schedule, connection, runs }) => [
  ['blueprints', '/blueprints', 'Blueprints'],
  ['blueprint-new', '/blueprints/new', 'New blueprint'],
  ['blueprint-import', '/blueprints/new?from=file', 'New blueprint'],
  ['editor', `/blueprints/${shop.id}/edit`, shop.title],
  ['blueprint-runs', `/blueprints/${shop.id}/runs`, shop.title],
  ['blueprint-triggers', `/blueprints/${shop.id}/triggers`, shop.title],
  ['blueprint-versions', `/blueprints/${shop.id}/versions`, shop.title],
  ['blueprint-share', `/blueprints/${shop.id}/share`, shop.title],
  ['runs', '/runs', 'Runs'],
  ['run-completed', `/runs/${runs.completed}`, sales.title],
  ['run-failed', `/runs/${runs.failed}`, stock.title],
  ['run-compare', `/runs/${runs.approval}/compare`, 'Compare runs'],
  ['run-approval', `/runs/${runs.approval}`, shop.title],
  ['run-form', `/runs/${runs.form}`, 'Book a room'],
  ['triggers', '/triggers', 'Triggers'],
  ['trigger-webhook', `/triggers/${webhook.id}`, null],
  ['trigger-schedule', `/triggers/${schedule.id}`, null],
  ['trigger-send', `/triggers/${webhook.id}?tab=use`, null],
  ['trigger-times', `/triggers/${schedule.id}?tab=use`, null],
  ['trigger-edit', `/triggers/${webhook.id}/edit`, 'Edit trigger'],
  ['trigger-new', `/triggers/new`, null],
  ['trigger-new-schedule', `/triggers/new?type=scheduled&blueprint=${sales.id}`, null],
  ['connections', '/connections', 'Connections'],
  ['connection', `/connections/${connection.id}`, connection.name],
  ['connection-new', '/connections/new', null],
  ['settings-profile', '/settings/profile', 'Profile'],
  ['settings-keys', '/settings/keys', 'API keys'],
  ['settings-organizations', '/settings/organizations', 'Organizations'],
  ['settings-organization', `/settings/organizations/${organization.id}`, organization.name],
  ['settings-grants', '/settings/grants', 'Grants'],
  ['settings-tools', '/settings/tools', 'MCP tools'],
  ['settings-audit', '/settings/audit', 'Audit log'],
  ['settings-limits', '/settings/limits', 'Limits'],
  ['settings-status', '/settings/status', 'Status'],
  ['not-found', '/settings/nowhere', 'Page not found'],
].map(([name, path, heading]) => ({ name, path, heading }));

/** Opens a page and waits until it is complete. */
export async function visit(page, { path, heading }) {
  await page.goto(path);
  await settled(page, heading);
}

/** Waits until the page shows its heading and nothing is loading. */
export async function settled(page, heading) {
  const title = page.getByRole('heading', { level: 1, ...(heading && { name: heading }) });
  await title.first().waitFor();
  await page.waitForFunction(() => {
    const loading = [...document.querySelectorAll('[aria-busy=true], .mantine-Skeleton-root, .mantine-Loader-root')];
    return loading.every((one) => one.getClientRects().length === 0);
  });
}
