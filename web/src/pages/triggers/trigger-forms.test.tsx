import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { Route } from 'wouter'
import { describe, expect, onTestFinished, test } from 'vitest'
import { show } from '../../../test/render'
import { inputsOf, Refusal, serve } from '../../../test/server'
import EditTriggerPage from './edit-trigger-page'
import { kinds } from './kinds'
import NewTriggerPage from './new-trigger-page'
import type { Config, Trigger, TriggerType } from './types'

type User = ReturnType<typeof show>

const common = {
  'blueprint.listSummaries': () => ({
    data: [
      { id: 'b1', title: 'Ship the orders', can_manage: true },
      { id: 'b2', title: 'Of another user', can_manage: false },
    ],
  }),
  'blueprint.get': () => ({ title: 'Ship the orders' }),
  'connection.list': () => [{ id: 'c1', name: 'Shop', type: 'slack', organizationId: null }],
  'server.getInfo': () => ({
    now: new Date(0).toISOString(),
    clock: 'system',
    mailDomain: null,
    events: ['execution.failed'],
  }),
  'blueprintTriggers.preview': () => [],
}

const change = (name: string, value: string) => fireEvent.change(screen.getByLabelText(name), { target: { value } })

/** Opens the form for a new trigger; `created()` returns the request to the server. */
function begin(type: TriggerType, { blueprint = 'b1', refuse }: { blueprint?: string; refuse?: Refusal } = {}) {
  const calls = serve({
    ...common,
    'blueprintTriggers.create': () => {
      if (refuse) throw refuse
      return { id: 't1' }
    },
  })
  const user = show(<NewTriggerPage />, `/triggers/new?type=${type}${blueprint && `&blueprint=${blueprint}`}`)
  return {
    user,
    created: () => inputsOf(calls, 'blueprintTriggers.create'),
    make: () => user.click(screen.getByRole('button', { name: 'Create trigger' })),
  }
}

/** The input for each type, and the resulting config; a missing type does not compile. */
const forms: Record<TriggerType, { fill: (user: User) => Promise<void> | void; config: Config }> = {
  scheduled: {
    fill: async (user) => {
      change('Cron expression', '*/10 * * * *')
      await user.click(screen.getByRole('radio', { name: 'Run all' }))
    },
    config: { cron: '*/10 * * * *', timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, catchUp: 'all' },
  },
  webhook: {
    fill: async (user) => {
      await user.selectOptions(screen.getByRole('combobox', { name: 'Sender' }), 'GitHub')
      change('Secret', 'swordfish')
      await user.click(screen.getByRole('radio', { name: 'Wait for the run' }))
    },
    config: { preset: 'github', secret: 'swordfish', respond: 'wait' },
  },
  api: {
    fill: async (user) => {
      change('Label', 'Order')
      await user.click(screen.getByRole('button', { name: 'Insert an example' }))
    },
    config: { label: 'Order', inputSchema: expect.objectContaining({ type: 'object', required: ['order'] }) as object },
  },
  email: {
    fill: async (user) => {
      await user.type(screen.getByRole('combobox', { name: 'Allowed senders' }), 'ada@example.org,@example.net{Enter}')
      await user.click(screen.getByRole('checkbox', { name: 'Require sender authentication' }))
      await user.click(screen.getByRole('radio', { name: 'Drop attachments' }))
    },
    config: { allowFrom: ['ada@example.org', '@example.net'], requireAuth: true, attachments: 'ignore' },
  },
  slack: {
    fill: async (user) => {
      change('Signing secret', 'swordfish')
      fireEvent.change(screen.getByRole('combobox', { name: 'Event type' }), { target: { value: 'app_mention' } })
      change('Channel', 'orders')
      await user.click(screen.getByRole('combobox', { name: 'Connection' }))
      await user.click(await screen.findByRole('option', { name: 'Shop' }))
    },
    config: { signingSecret: 'swordfish', eventType: 'app_mention', channel: 'orders', connectionId: 'c1' },
  },
  event: {
    fill: () =>
      void fireEvent.change(screen.getByRole('combobox', { name: 'Event' }), { target: { value: 'custom.paid' } }),
    config: { event: 'custom.paid' },
  },
  manual: { fill: () => undefined, config: {} },
}

describe.each(Object.entries(forms) as [TriggerType, (typeof forms)[TriggerType]][])(
  'a new trigger of type %s',
  (triggerType, { fill, config }) => {
    test('is created from the form', async () => {
      const { user, make, created } = begin(triggerType)
      await fill(user)
      await make()
      await waitFor(() => expect(created()).toEqual([{ blueprintId: 'b1', triggerType, config }]))
      await waitFor(() => expect(location.pathname).toBe('/triggers/t1'))
    })
  },
)

describe('a new trigger', () => {
  test('needs a blueprint and says so at the field', async () => {
    const { make, created } = begin('manual', { blueprint: '' })
    await make()
    screen.getByText('Choose a blueprint.')
    expect(created()).toEqual([])
  })

  test('offers the blueprints that the user manages', async () => {
    const { user } = begin('manual', { blueprint: '' })
    await user.click(screen.getByRole('combobox', { name: 'Blueprint' }))
    await user.click(await screen.findByRole('option', { name: 'Ship the orders' }))
    expect(screen.queryByRole('option', { name: 'Of another user' })).toBeNull()
    expect(location.search).toContain('blueprint=b1')
  })

  test('shows a refusal at its field and keeps what was typed', async () => {
    const message = 'must have at least 16 characters'
    const refuse = new Refusal('BAD_REQUEST', `config.secret: ${message}`, [{ path: ['config', 'secret'], message }])
    const { make } = begin('webhook', { refuse })
    change('Secret', 'short')
    await make()
    await screen.findByText(message)
    const secret = screen.getByLabelText<HTMLInputElement>('Secret')
    expect(secret.getAttribute('aria-invalid')).toBe('true')
    expect(secret.value).toBe('short')
    const note = within(screen.getByRole('alert'))
    note.getByText('Could not create the trigger')
    note.getByText(`Secret: ${message}`)
  })

  test('says in the words of the form that a sender needs a secret', async () => {
    const message = 'required with a preset: what the sender signs with'
    const refuse = new Refusal('BAD_REQUEST', `config.secret: ${message}`, [{ path: ['config', 'secret'], message }])
    const { make } = begin('webhook', { refuse })
    await make()
    const note = within((await screen.findAllByRole('alert'))[0]!)
    note.getByText('Secret: required for this sender')
  })

  test('names invalid fields by their labels', async () => {
    const issues = [
      { path: ['config', 'allowFrom', 1], message: 'write @example.org for a domain' },
      { path: ['config', 'concurrency', 'limit'], message: 'must be from 1 to 1000' },
      { path: ['config', 'note'], message: 'is too long' },
    ]
    const { make } = begin('email', { refuse: new Refusal('BAD_REQUEST', 'config.allowFrom[1]: ...', issues) })
    await make()
    await screen.findByText('3 fields need a change:')
    const note = within(screen.getAllByRole('alert')[0]!)
    note.getByText('Allowed senders: Entry 2: write @example.org for a domain')
    note.getByText('Maximum: must be from 1 to 1000')
    note.getByText('config.note: is too long')
    screen.getByText('Entry 2: write @example.org for a domain')
  })

  test('rewords messages that name other fields as the API does', async () => {
    const message = 'must be the id of a channel; a name needs connectionId'
    const refuse = new Refusal('BAD_REQUEST', `config.channel: ${message}`, [{ path: ['config', 'channel'], message }])
    const { make } = begin('slack', { refuse })
    await make()
    await screen.findByText('must be the id of a channel; a name needs "Connection"')
    within(screen.getByRole('alert')).getByText(/^Channel: must be the id .* "Connection"$/)
  })

  test('shows at its field that the input schema is not JSON', async () => {
    const message = 'must be a JSON Schema'
    const refuse = new Refusal('BAD_REQUEST', message, [{ path: ['config', 'inputSchema'], message }])
    const { make, created } = begin('api', { refuse })
    change('Input schema', '{"type": ')
    await make()
    await screen.findAllByText(/must be a JSON Schema/i)
    expect(created()).toMatchObject([{ config: { inputSchema: '{"type": ' } }])
  })

  test('of a webhook has its own masked secret', () => {
    begin('webhook')
    const secret = screen.getByLabelText<HTMLInputElement>('Secret')
    expect(secret.type).toBe('password')
    expect(secret.value.length).toBeGreaterThan(20)
    expect(document.body.textContent).not.toContain(secret.value)
  })

  test('of a webhook for people has a form instead of a secret', async () => {
    const { make, user, created } = begin('webhook')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sender' }), 'People, with a form')
    expect(screen.queryByLabelText(/^Secret/)).toBeNull()
    await user.type(screen.getByRole('textbox', { name: 'After sending' }), 'See you!')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sender' }), 'GitHub')
    expect(screen.getByLabelText<HTMLInputElement>('Secret').value.length).toBeGreaterThan(20)
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sender' }), 'People, with a form')
    await make()
    const { config } = created()[0] as { config: Record<string, unknown> }
    expect(config).toMatchObject({ form: { type: 'object', required: ['name', 'email'] }, thanks: 'See you!' })
    expect(config.secret).toBeUndefined()
  })

  test('of a webhook without a secret shows a warning', () => {
    begin('webhook')
    change('Secret', '')
    screen.getByText('Without a secret, anyone who knows the URL can start runs.')
  })

  test('limits concurrent runs', async () => {
    const { user, make, created } = begin('manual')
    await user.click(screen.getByRole('switch', { name: 'Limit concurrent runs' })) // without its description
    change('Maximum', '3')
    await user.click(screen.getByRole('radio', { name: 'Skip the run' }))
    await user.click(screen.getByLabelText(/^Pause after/))
    await make()
    await waitFor(() =>
      expect(created()).toMatchObject([{ config: { concurrency: { limit: 3, onLimit: 'skip' }, breaker: false } }]),
    )
  })
})

describe('the form of a trigger', () => {
  function open(config: Config, { type = 'webhook' as TriggerType, canManage = true } = {}) {
    const trigger = {
      id: 't1',
      trigger_type: type,
      config,
      blueprint_title: 'Ship the orders',
      can_manage: canManage,
    } as unknown as Trigger
    const calls = serve({
      ...common,
      'blueprintTriggers.getDetails': () => trigger,
      'blueprintTriggers.update': () => trigger,
    })
    const user = show(<Route path="/triggers/:id/edit" component={EditTriggerPage} />, '/triggers/t1/edit')
    return {
      updates: () => inputsOf(calls, 'blueprintTriggers.update'),
      save: async () => user.click(await screen.findByRole('button', { name: 'Save' })),
    }
  }

  test('sends only changes and keeps unknown settings', async () => {
    const { save, updates } = open({ secret: 'swordfish', preset: 'github', note: 'x', priority: 1, label: 'Orders' })
    await screen.findByText('Other settings that stay unchanged: note, priority.')
    fireEvent.change(screen.getByRole('combobox', { name: 'Sender' }), { target: { value: '' } })
    await save()
    await waitFor(() => expect(updates()).toEqual([{ triggerId: 't1', config: { preset: null } }]))
    await waitFor(() => expect(location.pathname).toBe('/triggers/t1'))
  })

  test('names the settings of a type that has no form', async () => {
    const { keys } = kinds.manual
    kinds.manual.keys = ['caption']
    onTestFinished(() => {
      kinds.manual.keys = keys
    })
    open({ caption: 'Press', label: 'Button' }, { type: 'manual' })
    await screen.findByText('Other settings that stay unchanged: caption.')
  })

  test('removes a secret by clearing it', async () => {
    const { save, updates } = open({ secret: 'swordfish' })
    fireEvent.change(await screen.findByLabelText('Secret'), { target: { value: '' } })
    await save()
    await waitFor(() => expect(updates()).toEqual([{ triggerId: 't1', config: { secret: '' } }]))
  })

  test('masks a stored secret', async () => {
    open({ secret: 'swordfish' })
    expect(await screen.findByLabelText('Secret')).toHaveProperty('type', 'password')
    expect(document.body.textContent).not.toContain('swordfish')
  })

  test('sends nothing when nothing changed', async () => {
    const { save, updates } = open({ secret: 'swordfish' })
    await save()
    await waitFor(() => expect(location.pathname).toBe('/triggers/t1'))
    expect(updates()).toEqual([])
  })

  test('is read-only for users who do not manage the blueprint', async () => {
    open({}, { canManage: false })
    await screen.findByText('Only managers of the blueprint can change its triggers.')
    expect(screen.queryByRole('button', { name: 'Save' })).toBeNull()
  })
})
