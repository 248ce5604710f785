import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from '../../graph/map'
import { partial } from './partial'

const node = (id: string, type = 'log'): MapNode => ({ id, type, title: `The ${id}`, config: { of: id } })
const step = (nodeId: string, output: unknown, status = 'completed') => ({ nodeId, status, output })
const graph = {
  nodes: [node('vars', 'set'), node('if', 'conditional'), node('yes'), node('no'), node('end')],
  edges: [
    { source: 'vars', target: 'if' },
    { source: 'if', target: 'yes', sourceHandle: 'true' },
    { source: 'if', target: 'no', sourceHandle: 'false' },
    { source: 'yes', target: 'end' },
    { source: 'no', target: 'end' },
  ],
}
const run = {
  steps: [
    step('vars', { a: 1 }),
    step('if', { b: 'x' }),
    step('yes', 'said'),
    step('no', null, 'skipped'),
    step('end', 2),
  ],
}
const short = (made: ReturnType<typeof partial>) => {
  assert.ok('map' in made, 'missing' in made ? made.missing.join() : '')
  return {
    nodes: made.map.nodes.map(({ id, type, config }) => [id, type, config.source ?? config.of]),
    edges: made.map.edges?.map((edge) => `${edge.source} ${edge.sourceHandle ?? 'main'} ${edge.target}`),
  }
}

test('runs one node with the outputs of the nodes before it', () => {
  assert.deepEqual(short(partial(graph, 'yes', false, run)), {
    nodes: [
      ['vars', 'set', 'vars'],
      ['if', 'code', 'return {"b":"x"}'],
      ['yes', 'log', 'yes'],
    ],
    edges: ['vars main if', 'if main yes'],
  })
})

test('runs from a node on; a branch that was skipped is left out', () => {
  assert.deepEqual(short(partial(graph, 'yes', true, run)), {
    nodes: [
      ['vars', 'set', 'vars'],
      ['if', 'code', 'return {"b":"x"}'],
      ['yes', 'log', 'yes'],
      ['end', 'log', 'end'],
    ],
    edges: ['vars main if', 'if main yes', 'yes main end'],
  })
  assert.deepEqual(short(partial(graph, 'vars', true, undefined)).nodes.length, 5, 'the first node needs no data')
})

test('says which output is missing', () => {
  assert.deepEqual(partial(graph, 'yes', false, undefined), { missing: ['The if'] })
  assert.deepEqual(partial(graph, 'end', false, { steps: [] }), { missing: ['The yes', 'The no'] })
})

test('keeps the order of a sequence', () => {
  const line = { nodes: [node('a'), node('b'), node('c')] }
  assert.deepEqual(short(partial(line, 'b', false, { steps: [step('a', [1])] })), {
    nodes: [
      ['a', 'code', 'return [1]'],
      ['b', 'log', 'b'],
    ],
    edges: undefined,
  })
  assert.deepEqual(short(partial(line, 'b', true, { steps: [step('a', [1])] })).nodes.length, 3)
})

test('a later node returns its pinned output, the node itself runs', () => {
  const made = short(partial(graph, 'yes', true, run, { yes: 'pinned', end: 3 }))
  assert.deepEqual(made.nodes.slice(2), [
    ['yes', 'log', 'yes'],
    ['end', 'code', 'return 3'],
  ])
})
