import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hrefOf, usersOf } from './uses.ts'

test('lists the uses of a connection', () => {
  const [a, b, c] = [
    '11111111-1111-4111-8111-111111111111',
    '22222222-2222-4222-8222-222222222222',
    '33333333-3333-4333-8333-333333333333',
  ] as const
  const users = usersOf({
    blueprints: [
      {
        id: 'bp',
        title: 'Hello',
        blueprint_map: { nodes: [{ config: { connectionId: a } }, { config: { connectionId: a, mcp: [b] } }] },
        environment_variables: [],
      },
    ],
    triggers: [{ id: 'tr', blueprint_title: 'Hello', config: { connectionId: b } }],
    connections: [
      { id: a, name: 'A', config: {} },
      { id: b, name: 'B', config: { auth: { connectionId: c } } },
      { id: c, name: 'C', config: { note: c } },
    ],
  })
  assert.deepEqual(users.get(a), [{ kind: 'blueprint', id: 'bp', title: 'Hello' }])
  assert.deepEqual(
    users.get(b)?.map((user) => user.kind),
    ['blueprint', 'trigger'],
  )
  assert.deepEqual(users.get(c), [{ kind: 'connection', id: b, title: 'B' }])
  assert.equal(hrefOf({ kind: 'blueprint', id: 'bp', title: '' }), '/blueprints/bp')
})
