import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configToCreate, fileName, lacksSecret, readFile, toFile } from './file'

const blueprint = {
  title: 'Täglicher Bericht',
  description: '',
  tags: ['daily'],
  environment_variables: [
    { name: 'KEY', secret: true, default: 'hidden' },
    { name: 'URL', default: 'https://example.com' },
  ],
  blueprint_map: { nodes: [{ id: 'a', type: 'log', title: 'A', config: {}, position: { x: 1, y: 2 } }] },
}
const triggers = [
  { trigger_type: 'webhook', config: { secret: 'hidden', respond: 'wait' }, is_active: true },
  { trigger_type: 'email', config: { address: 'x@localhost', allowFrom: ['@example.com'] }, is_active: false },
]

test('contains portable data and no secrets', () => {
  const text = toFile(blueprint, triggers)
  assert.ok(!text.includes('hidden') && !text.includes('x@localhost'))
  const { file, faults } = readFile(text)
  assert.deepEqual(faults, [])
  assert.deepEqual(file, {
    title: blueprint.title,
    tags: ['daily'],
    environment_variables: [
      { name: 'KEY', secret: true, default: null },
      { name: 'URL', default: 'https://example.com' },
    ],
    blueprint_map: blueprint.blueprint_map,
    triggers: [
      { triggerType: 'webhook', config: { secret: null, respond: 'wait' } },
      { triggerType: 'email', config: { allowFrom: ['@example.com'] }, isActive: false },
    ],
  })
})

test('names files', () => {
  assert.equal(fileName('Täglicher Bericht!'), 'taglicher-bericht.blueprint.json')
  assert.equal(fileName('日報'), 'untitled.blueprint.json')
})

const refused: [name: string, text: string, where: string, file?: string][] = [
  ['no JSON', '{"title": "x",}', 'line 1, column 14'],
  ['YAML', 'title: x', '', 'x.blueprint.yaml'],
  ['a picture', '\u0089PNG\0', '', 'photo.png'],
  ['a list', '[]', ''],
  ['no title', '{"blueprint_map": {"nodes": []}}', 'title'],
  ['no map', '{"title": "x"}', 'blueprint_map'],
  ['nodes of the wrong kind', '{"title": "x", "blueprint_map": {"nodes": {}}}', 'blueprint_map.nodes'],
  [
    'a trigger without a type',
    '{"title": "x", "blueprint_map": {"nodes": []}, "triggers": [{}]}',
    'triggers[0].triggerType',
  ],
]
for (const [name, text, where, file] of refused) {
  test(`refused: ${name}`, () =>
    assert.deepEqual(
      readFile(text, file).faults.map((fault) => fault.where),
      [where],
    ))
}

test('names a blueprint_map after its file', () => {
  assert.equal(readFile('{"nodes": []}', 'daily.blueprint.json').file?.title, 'daily')
})

test('imports triggers without their secrets', () => {
  const slack = { triggerType: 'slack', config: { signingSecret: null, channel: 'C1' } }
  assert.equal(configToCreate(slack), undefined)
  assert.deepEqual(configToCreate(slack, 's'), { channel: 'C1', signingSecret: 's' })
  assert.deepEqual(configToCreate({ triggerType: 'webhook', config: { secret: null, respond: 'wait' } }), {
    respond: 'wait',
  })
  assert.ok(
    lacksSecret(slack) &&
      lacksSecret({ triggerType: 'webhook', config: { secret: null } }) &&
      !lacksSecret({ triggerType: 'webhook', config: {} }),
  )
})
