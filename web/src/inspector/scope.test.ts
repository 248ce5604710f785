import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spotAt, suggest } from '../forms/completion'
import { typeOf } from '../forms/names'
import { nodeTypes } from '../../test/node-types'
import type { BlueprintMap, MapNode } from '../graph/map'
import { scopeOf, stepsAt } from './scope'
import { usesOf } from './uses'
import { nameFault, readVariables, secretIsSet } from './variables'

const node = (id: string, type: string, config = {}): MapNode => ({ id, type, title: id.toUpperCase(), config })
const edges = (...pairs: string[]) => pairs.map((pair) => ({ source: pair[0]!, target: pair[1]! }))
const map: BlueprintMap = {
  nodes: [
    node('a', 'http-request'),
    node('b', 'set', { values: { total: '{{input.body}}', region: 'eu' } }),
    node('c', 'log'),
    node('d', 'merge'),
    node('e', 'template'),
    node('odd-one', 'set', { values: { other: 1 } }),
  ],
  edges: edges('ab', 'ac', 'bd', 'cd', 'de'),
}
const offered = (text: string, names: ReturnType<typeof scopeOf>) =>
  suggest(spotAt(text, text.length, 'template')!, names).map((one) => one.label)

test('lists earlier nodes only', () => {
  const names = scopeOf(map, 'd', { types: nodeTypes, variables: [] })
  assert.deepEqual(Object.keys(names.nodes!.members!), ['a', 'b', 'c'])
  assert.deepEqual(Object.keys(scopeOf(map, 'a', { types: nodeTypes, variables: [] }).nodes!.members!), [])
  const chain: BlueprintMap = { nodes: map.nodes }
  assert.deepEqual(Object.keys(scopeOf(chain, 'c', { types: nodeTypes, variables: [] }).nodes!.members!), ['a', 'b'])
})

test('offers the link of a later question, and only its link', () => {
  const asking: BlueprintMap = {
    nodes: [node('mail', 'send-email'), node('gate', 'approval-gate'), node('after', 'template')],
  }
  const at = (id: string, text: string) => offered(text, scopeOf(asking, id, { types: nodeTypes, variables: [] }))
  assert.deepEqual(at('mail', '{{nodes.'), ['gate.link'])
  assert.deepEqual(at('mail', '{{nodes.gate.'), ['link'])
  assert.deepEqual(at('gate', '{{nodes.'), ['mail.output'])
  assert.deepEqual(at('after', '{{nodes.gate.'), ['output'])
})

test('takes the input from one node, several nodes or the run', () => {
  assert.deepEqual(offered('{{input.', scopeOf(map, 'b', { types: nodeTypes, variables: [] })), [
    'body',
    'headers',
    'status',
  ])
  assert.deepEqual(offered('{{input.', scopeOf(map, 'd', { types: nodeTypes, variables: [] })), ['b', 'c'])
  // log passes its input on; merge combines both in an object.
  assert.deepEqual(offered('{{input.c.', scopeOf(map, 'e', { types: nodeTypes, variables: [] })), [
    'body',
    'headers',
    'status',
  ])
  const inputSchema = { type: 'object', properties: { order: { type: 'string' } } }
  assert.deepEqual(offered('{{input.', scopeOf(map, 'a', { types: nodeTypes, variables: [], inputSchema })), ['order'])
})

test('uses values of the last run before declared types', () => {
  const lastRun = {
    steps: [{ nodeId: 'a', status: 'completed', input: { q: 1 }, output: { status: 200, body: { id: 7 } } }],
  }
  const names = scopeOf(map, 'b', { types: nodeTypes, variables: [], lastRun })
  assert.deepEqual(offered('{{input.body.', names), ['id'])
  assert.deepEqual(offered('{{inputData.', names), ['q'])
  assert.deepEqual(offered('{{nodes.a.output.', names), ['status', 'body', 'headers'])
})

test('collects variables from declarations and set nodes', () => {
  const names = scopeOf(map, 'd', {
    types: nodeTypes,
    variables: [
      { name: 'region', default: 'us' },
      { name: 'key', secret: true, default: 'hidden' },
      { name: 'n', type: 'number' },
    ],
  })
  assert.match(names.region!.note!, /set by B/)
  assert.equal(names.key!.seen, undefined)
  assert.equal(names.key!.secret, true)
  assert.equal(names.n!.secret, undefined)
  assert.equal(typeOf(names.n!), 'number')
  assert.match(names.other!.note!, /does not lead here/)
})

test('lists the item and outer names inside a for-each', () => {
  const body: BlueprintMap = { nodes: [node('x', 'template'), node('y', 'log')] }
  const outer: BlueprintMap = {
    nodes: [node('a', 'http-request'), node('loop', 'for-each', { items: 'input.body', ...body })],
  }
  const lastRun = {
    steps: [
      { nodeId: 'loop[0]/x', status: 'completed', input: { sku: 1 }, output: { text: 'hi' } },
      { nodeId: 'loop[1]/x', status: 'pending' },
    ],
  }
  const names = scopeOf(body, 'y', {
    types: nodeTypes,
    variables: [],
    lastRun,
    around: [{ map: outer, nodeId: 'loop' }],
  })
  assert.deepEqual(Object.keys(names.nodes!.members!), ['a', 'x'])
  assert.deepEqual(offered('{{item.', names), ['sku'])
  assert.deepEqual(offered('{{input.', names), ['text'])
  assert.equal(stepsAt(lastRun, ['loop']).length, 2)
  assert.equal(scopeOf(outer, 'a', { types: nodeTypes, variables: [] }).item, undefined)
})

test('handles cycles and missing nodes', () => {
  const circle: BlueprintMap = { nodes: [node('a', 'log'), node('b', 'log')], edges: edges('ab', 'ba') }
  assert.ok(scopeOf(circle, 'a', { types: nodeTypes, variables: [] }))
  assert.ok(scopeOf({ nodes: [] }, 'gone', { types: nodeTypes, variables: ['no object'] }))
})

test('checks the names of variables', () => {
  const [one, two] = readVariables([
    { name: 'a', default: null },
    { name: 'b', type: 'json', default: null },
  ])
  assert.equal(one!.hasDefault, false)
  assert.equal(two!.hasDefault, true)
  assert.equal(secretIsSet({ secret: true, default: null }), true)
  assert.equal(secretIsSet({ secret: true, default: '' }), false)
  assert.equal(nameFault('a_1', []), undefined)
  for (const name of ['', 'a b', 'ä', 'now', 'taken']) assert.ok(nameFault(name, ['taken']), name)
})

test('finds the uses of a variable', () => {
  const uses = usesOf({
    nodes: [
      node('t', 'template', { text: '{{ region }} {{= upper(name) }} {{x ?? 1}} region2' }),
      node('c', 'conditional', { condition: 'region == "eu" and "name" != input.name' }),
      node('k', 'code', { source: 'const { region, x: y } = variables; return variables.key + variables["name"]' }),
      node('l', 'for-each', { items: 'orders', nodes: [node('in', 'log', { message: '{{region}}' })] }),
    ],
  })
  const ids = (name: string) => uses.get(name)?.map((one) => one.id)
  assert.deepEqual(ids('region'), ['t', 'c', 'k', 'in'])
  assert.deepEqual(ids('name'), ['t', 'k'])
  assert.deepEqual(ids('key'), ['k'])
  assert.deepEqual(ids('orders'), ['l'])
  assert.equal(ids('region2'), undefined)
})
