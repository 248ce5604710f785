import type { BlueprintMap, JsonObject } from '../../graph/map'
import { templatesText } from '../../text/blueprints'

/** A small blueprint to start with. */
export type Template = {
  key: string
  title: string
  /** A description in one sentence. */
  text: string
  map: BlueprintMap
  /** Its triggers, created inactive. A webhook gets a new secret. */
  triggers: { triggerType: 'webhook' | 'scheduled'; config: JsonObject }[]
}

/**
 * The blueprints to start with. Values that only the user knows (a connection, a channel, an address) are left empty.
 */
export const templates: Template[] = [
  {
    key: 'webhook',
    title: templatesText.answerAWebhook,
    text: templatesText.receivesARequestFromAnother,
    map: {
      nodes: [
        {
          id: 'read_name',
          type: 'set',
          title: templatesText.readTheName,
          config: { values: { name: '{{inputData.name ?? "world"}}' } },
        },
        {
          id: 'respond',
          type: 'respond',
          title: templatesText.respond,
          config: { status: 200, body: { greeting: 'Hello, {{name}}.', at: '{{now}}' } },
        },
      ],
      edges: [{ source: 'read_name', target: 'respond' }],
    },
    triggers: [{ triggerType: 'webhook', config: { respond: 'wait' } }],
  },
  {
    key: 'watch',
    title: templatesText.monitorAWebsite,
    text: templatesText.requestsAUrlEvery15Minutes,
    map: {
      nodes: [
        {
          id: 'request',
          type: 'http-request',
          title: templatesText.requestThePage,
          config: { method: 'GET', url: 'https://example.com/', expectStatus: ['2xx', '3xx', '4xx', '5xx'] },
          onError: 'continue',
        },
        {
          id: 'is_up',
          type: 'conditional',
          title: templatesText.isItUp,
          config: { condition: 'input.status != nil && input.status < 400' },
        },
        {
          id: 'notify',
          type: 'send-slack',
          title: templatesText.postToSlack,
          config: {
            connectionId: '',
            channel: '#alerts',
            text: templatesText.httpsExampleComIsDownStatus,
          },
        },
      ],
      edges: [
        { source: 'request', target: 'is_up' },
        { source: 'is_up', target: 'notify', sourceHandle: 'false' },
      ],
    },
    triggers: [{ triggerType: 'scheduled', config: { cron: '*/15 * * * *', timezone: 'UTC' } }],
  },
  {
    key: 'approval',
    title: templatesText.formWithApproval,
    text: templatesText.collectsDetailsInAFormAsks,
    map: {
      nodes: [
        {
          id: 'form',
          type: 'human',
          title: templatesText.requestAPurchase,
          config: {
            prompt: templatesText.whatDoYouWantToBuy,
            schema: {
              type: 'object',
              required: ['item', 'amount'],
              properties: {
                item: { type: 'string', title: templatesText.item, minLength: 1 },
                amount: { type: 'number', title: templatesText.amountInEuros, minimum: 0 },
                reason: { type: 'string', title: templatesText.reason },
              },
            },
          },
        },
        {
          id: 'approval',
          type: 'approval-gate',
          title: templatesText.askForApproval,
          config: {
            prompt: templatesText.buyNodesFormOutputItemFor,
            expiresMs: 259_200_000,
            onExpire: 'reject',
          },
        },
        {
          id: 'approved',
          type: 'set',
          title: templatesText.approved,
          config: { values: { decision: 'approved', purchase: '{{nodes.form.output.item}}' } },
        },
        {
          id: 'rejected',
          type: 'set',
          title: templatesText.rejected,
          config: { values: { decision: 'rejected', comment: '{{input.comment ?? "none"}}' } },
        },
      ],
      edges: [
        { source: 'form', target: 'approval' },
        { source: 'approval', target: 'approved', sourceHandle: 'approved' },
        { source: 'approval', target: 'rejected', sourceHandle: 'rejected' },
      ],
    },
    triggers: [],
  },
]
