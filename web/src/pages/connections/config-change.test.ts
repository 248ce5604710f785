import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginning, changeOf, given, needless, secretsOf } from './config-change.ts'

test('sends only changes in an update', () => {
  const before = {
    tokenUrl: 'https://a.example',
    clientSecret: null,
    scopes: ['a'],
    auth: { type: 'bearer', token: null },
  }
  const cases: [string, Record<string, unknown>, unknown][] = [
    ['nothing', { ...before }, undefined],
    ['another text', { ...before, tokenUrl: 'https://b.example' }, { tokenUrl: 'https://b.example' }],
    ['a new secret', { ...before, clientSecret: 's' }, { clientSecret: 's' }],
    [
      'a secret taken away',
      { tokenUrl: before.tokenUrl, scopes: before.scopes, auth: before.auth },
      { clientSecret: '' },
    ],
    ['a key taken away', { tokenUrl: before.tokenUrl, clientSecret: null, auth: before.auth }, { scopes: null }],
    ['a secret within', { ...before, auth: { type: 'bearer', token: 't' } }, { auth: { type: 'bearer', token: 't' } }],
    ['a key that was never there', { ...before, hosts: undefined }, undefined],
    ['a key more', { ...before, hosts: ['x'] }, { hosts: ['x'] }],
  ]
  for (const [name, after, wanted] of cases) assert.deepEqual(changeOf(before, after, ['clientSecret']), wanted, name)
})

test('starts a new config from its defaults and sends it', () => {
  const schema = {
    properties: {
      port: { type: 'integer', default: 587 },
      password: { type: 'string', 'x-kind': 'secret' },
      host: { type: 'string' },
    },
  }
  assert.deepEqual(beginning(schema), { port: 587 })
  assert.deepEqual(secretsOf(schema), ['password'])
  assert.deepEqual(given({ a: '', b: null, c: undefined, d: false, e: [] }), { d: false, e: [] })
  assert.deepEqual(needless('oauth2', { flow: 'client_credentials' }), ['authorizationUrl'])
  assert.deepEqual(needless('oauth2', { flow: 'authorization_code' }), [])
})
