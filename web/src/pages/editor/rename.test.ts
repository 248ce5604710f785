import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode } from '../../graph/map'
import { expressionsOf, referencesTo, replaceText } from './references'
import { idProblem, rename } from './rename'
import { nodeTypes } from '../../../test/node-types'

const expressions = expressionsOf(nodeTypes)

const node = (id: string, type: string, config: object): MapNode => ({
  id,
  type,
  title: id,
  config: config as MapNode['config'],
})

test('finds names in texts', () => {
  const cases: [string, 'template' | 'expression' | 'code', string, string][] = [
    [
      'Hello {{nodes.a.output}} and {{ nodes["a"].output[0] }}',
      'template',
      'b',
      'Hello {{nodes.b.output}} and {{ nodes.b.output[0] }}',
    ],
    ['{{nodes.a.output}}', 'template', 'b-c', '{{nodes["b-c"].output}}'],
    [
      'nodes.a.output {{nodes.ab.output}} {{x.nodes.a}} {{mynodes.a}}',
      'template',
      'b',
      'nodes.a.output {{nodes.ab.output}} {{x.nodes.a}} {{mynodes.a}}',
    ],
    [
      '{{nodes.x.output ?? "nodes.a }} nodes.a"}} {{nodes.a}}',
      'template',
      'b',
      '{{nodes.x.output ?? "nodes.a }} nodes.a"}} {{nodes.b}}',
    ],
    ['{{= len(nodes.a?.output) + nodes?.a.n }}', 'template', 'b', '{{= len(nodes.b?.output) + nodes?.b.n }}'],
    [
      'nodes.a.output > 1 && "nodes.a" != \'nodes.a\'',
      'expression',
      'b',
      'nodes.b.output > 1 && "nodes.a" != \'nodes.a\'',
    ],
    [
      '// nodes.a\nreturn [...nodes.a.output, `${nodes["a"].n}`] /* nodes.a */',
      'code',
      'b',
      '// nodes.a\nreturn [...nodes.b.output, `${nodes.b.n}`] /* nodes.a */',
    ],
    ['unclosed {{nodes.a', 'template', 'b', 'unclosed {{nodes.a'],
  ]
  for (const [text, mode, to, want] of cases) assert.equal(replaceText(text, mode, ['nodes'], 'a', to).text, want)
})

const map: BlueprintMap = {
  nodes: [
    node('a', 'set', { values: { n: 1 } }),
    node('b', 'set', { values: { text: 'a' } }),
    node('c', 'template', { text: '{{input.a.n}} {{nodes.a.output}}' }),
    node('d', 'conditional', { condition: 'nodes.a.output.n > 1' }),
    node('loop', 'for-each', {
      items: 'nodes.a.output',
      nodes: [node('x', 'template', { text: '{{nodes.a.output}}' })],
    }),
    node('hidden', 'for-each', {
      items: '[1]',
      nodes: [node('a', 'template', { text: '' }), node('y', 'template', { text: '{{nodes.a.output}}' })],
    }),
  ],
  edges: [
    { source: 'a', target: 'c', id: 'one' },
    { source: 'b', target: 'c' },
    { source: 'a', target: 'd' },
  ],
  note: { keep: true },
}

test('renames a node in edges and references', () => {
  const renamed = rename(map, 'a', 'first', true, expressions)
  assert.deepEqual(
    renamed.nodes.map((each) => each.id),
    ['first', 'b', 'c', 'd', 'loop', 'hidden'],
  )
  assert.deepEqual(renamed.edges, [
    { source: 'first', target: 'c', id: 'one' },
    { source: 'b', target: 'c' },
    { source: 'first', target: 'd' },
  ])
  assert.equal(renamed.nodes[2]!.config.text, '{{input.first.n}} {{nodes.first.output}}')
  assert.equal(renamed.nodes[3]!.config.condition, 'nodes.first.output.n > 1')
  assert.equal(renamed.nodes[4]!.config.items, 'nodes.first.output')
  assert.equal((renamed.nodes[4]!.config.nodes as MapNode[])[0]!.config.text, '{{nodes.first.output}}')
  assert.equal(renamed.nodes[5], map.nodes[5], 'a node of the same id within hides ours')
  assert.deepEqual(renamed.note, { keep: true })
  assert.equal(rename(map, 'a', 'first', false, expressions).nodes[3], map.nodes[3])
})

test('lists the references to a node', () => {
  assert.deepEqual(
    referencesTo(map, 'a', expressions).map((each) => [each.nodeId, each.count]),
    [
      ['c', 2],
      ['d', 1],
      ['loop', 1],
      ['loop', 1],
    ],
  )
  assert.deepEqual(referencesTo(map, 'b', expressions), [])
})

test('refuses invalid IDs', () => {
  assert.match(idProblem(map, 'a', 'b')!, /Another node/)
  assert.match(idProblem(map, 'a', '')!, /ID/)
  assert.match(idProblem(map, 'a', 'x]/y')!, /for-each/)
  assert.equal(idProblem(map, 'a', 'a'), undefined)
})
