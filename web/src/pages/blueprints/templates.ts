import type { BlueprintMap, JsonObject } from '../../graph/map'

/** A small blueprint to begin with. */
export type Template = {
  key: string
  title: string
  /** What it does, in one sentence. */
  text: string
  map: BlueprintMap
  /** Triggers that are made with it, switched off. A webhook gets a new secret. */
  triggers: { triggerType: 'webhook' | 'scheduled'; config: JsonObject }[]
}

/** The blueprints to begin with. What only the person knows (a connection, a channel, an address) is left to fill in. */
export const templates: Template[] = [
  {
    key: 'webhook',
    title: 'Answer a webhook',
    text: 'Takes what another service posts, picks a value, and answers with JSON.',
    map: {
      nodes: [
        {
          id: 'pick',
          type: 'set',
          title: 'Pick the name',
          config: { values: { name: '{{inputData.name ?? "world"}}' } },
        },
        {
          id: 'answer',
          type: 'respond',
          title: 'Answer',
          config: { status: 200, body: { greeting: 'Hello, {{name}}.', at: '{{now}}' } },
        },
      ],
      edges: [{ source: 'pick', target: 'answer' }],
    },
    triggers: [{ triggerType: 'webhook', config: { respond: 'wait' } }],
  },
  {
    key: 'watch',
    title: 'Watch an address',
    text: 'Asks an address every quarter of an hour and writes to Slack when it does not answer well.',
    map: {
      nodes: [
        {
          id: 'ask',
          type: 'http-request',
          title: 'Ask the address',
          config: { method: 'GET', url: 'https://example.com/', expectStatus: ['2xx', '3xx', '4xx', '5xx'] },
          onError: 'continue',
        },
        {
          id: 'well',
          type: 'conditional',
          title: 'Is it well?',
          config: { condition: 'input.status != nil && input.status < 400' },
        },
        {
          id: 'tell',
          type: 'send-slack',
          title: 'Tell the channel',
          config: {
            connectionId: '',
            channel: '#alerts',
            text: 'https://example.com/ does not answer well: status {{input.status ?? "none"}}.',
          },
        },
      ],
      edges: [
        { source: 'ask', target: 'well' },
        { source: 'well', target: 'tell', sourceHandle: 'false' },
      ],
    },
    triggers: [{ triggerType: 'scheduled', config: { cron: '*/15 * * * *', timezone: 'UTC' } }],
  },
  {
    key: 'approval',
    title: 'Form with approval',
    text: 'Asks somebody for the facts in a form, then somebody else for a yes, and goes on by the answer.',
    map: {
      nodes: [
        {
          id: 'form',
          type: 'human',
          title: 'Ask for the purchase',
          config: {
            prompt: 'What shall be bought, and for how much?',
            schema: {
              type: 'object',
              required: ['item', 'amount'],
              properties: {
                item: { type: 'string', title: 'Item', minLength: 1 },
                amount: { type: 'number', title: 'Amount in euros', minimum: 0 },
                reason: { type: 'string', title: 'Reason' },
              },
            },
          },
        },
        {
          id: 'gate',
          type: 'approval-gate',
          title: 'Ask for a yes',
          config: {
            prompt: 'Buy {{nodes.form.output.item}} for {{nodes.form.output.amount}} euros?',
            expiresMs: 259_200_000,
            onExpire: 'reject',
          },
        },
        {
          id: 'buy',
          type: 'set',
          title: 'Approved',
          config: { values: { decision: 'approved', purchase: '{{nodes.form.output.item}}' } },
        },
        {
          id: 'leave',
          type: 'set',
          title: 'Rejected',
          config: { values: { decision: 'rejected', comment: '{{input.comment ?? "none"}}' } },
        },
      ],
      edges: [
        { source: 'form', target: 'gate' },
        { source: 'gate', target: 'buy', sourceHandle: 'approved' },
        { source: 'gate', target: 'leave', sourceHandle: 'rejected' },
      ],
    },
    triggers: [],
  },
]
