import { expect, test } from 'vitest'
import { kinds, listensTo, nameOf } from './kinds'

test('describes what a trigger reacts to', () => {
  expect(listensTo('scheduled', { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' })).toBe(
    'Every weekday at 09:00, Europe/Berlin',
  )
  expect(listensTo('webhook', { secret: null })).toBe('Webhook, signed with a secret')
  expect(listensTo('webhook', {})).toBe('Webhook, unsigned')
  expect(listensTo('webhook', { secret: 's', preset: 'github' })).toBe('Webhook, GitHub signature')
  expect(listensTo('email', { address: null })).toBe('Mail to its address')
  expect(listensTo('slack', { eventType: 'app_mention', channel: 'ops' })).toBe('Slack: app_mention in #ops')
  expect(listensTo('slack', { channel: 'C012' })).toBe('Slack: every event in C012')
  expect(listensTo('event', { event: 'custom.paid' })).toBe('When custom.paid is emitted')
  expect(listensTo('event', { event: 'execution.failed', blueprintId: 'x' })).toBe(
    'When a run failed, of one blueprint',
  )
  expect(listensTo('api', {})).toBe('API call')
})

test('names a trigger by its label, or by what it reacts to', () => {
  expect(nameOf({ trigger_type: 'webhook', config: { label: 'Orders of the web shop' } })).toBe(
    'Orders of the web shop',
  )
  expect(nameOf({ trigger_type: 'webhook', config: { label: '' } })).toBe('Webhook, unsigned')
})

test('creates sample inputs from the config', () => {
  expect(kinds.event.sample({ event: 'custom.x' }).event).toBe('custom.x')
})
