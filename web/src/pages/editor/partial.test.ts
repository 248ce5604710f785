import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MapNode } from '../../graph/map'
import { inputOf, overlaid, partial } from './partial'

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

test('takes the output of a disabled node and of one that failed and continued', () => {
  const steps = [step('vars', { a: 1 }), step('if', { kept: 1 }, 'skipped')]
  assert.deepEqual(short(partial(graph, 'yes', false, { steps })).nodes[1], ['if', 'code', 'return {"kept":1}'])
  const failed = { steps: [steps[0]!, step('if', { error: 'x' }, 'failed')] }
  assert.deepEqual(short(partial(graph, 'yes', false, failed)).nodes[1], ['if', 'code', 'return {"error":"x"}'])
  const none = { steps: [steps[0]!, step('if', null, 'failed')] }
  assert.deepEqual(partial(graph, 'yes', false, none), { missing: ['The if'] })
})

test('names the masked values of stored outputs', () => {
  const masked = { steps: [step('vars', { a: '***' }), step('if', { key: 'Bearer ***' }), step('yes', '***')] }
  const made = partial(graph, 'yes', true, masked, { end: '***' })
  assert.ok('map' in made)
  assert.deepEqual(made.masked, ['nodes.if.output.key', 'nodes.end.output'], 'not the set node, which runs')
  assert.deepEqual([...made.ran], ['yes'])
})

test('takes the input of the run from a node without a predecessor', () => {
  const turned = { ...graph, nodes: [...graph.nodes].reverse() }
  const steps = [
    { ...step('end', 2), input: 'last' },
    { ...step('vars', {}), input: 'first' },
  ]
  assert.equal(inputOf(turned, { steps }), 'first')
  assert.equal(inputOf({ nodes: [node('end'), node('vars')] }, { steps }), 'last', 'a sequence begins at its first')
  assert.equal(inputOf(turned, { steps, inputData: 'known' }), 'known')
  assert.deepEqual(inputOf(turned, undefined), {})
})

test('a run of a part leaves the other steps those of the earlier run', () => {
  const from = { id: 'one', inputData: 7, steps: [step('a', 1), step('b', 2), step('b[0]/x', 3), step('c', 4)] }
  const part = { id: 'two', steps: [step('a', 'stand-in'), step('b', 5)] }
  assert.deepEqual(overlaid(part, from, new Set(['b'])), {
    id: 'two',
    inputData: 7,
    steps: [step('a', 1), step('c', 4), step('b', 5)],
  })
  assert.equal(overlaid(part, undefined, new Set(['b'])), part)
})

test('names the masked values that the nodes get', () => {
  const masks = { ...run, inputData: { token: '***', list: [{ 'a b': 'Bearer ***' }], n: 1 } }
  const paths = (id: string, map = graph) => {
    const made = partial(map, id, false, {
      ...masks,
      steps: masks.steps.map((each) => (each.nodeId === 'if' ? { ...each, output: { key: '***' } } : each)),
    })
    return 'map' in made ? made.masked : made.missing
  }
  assert.deepEqual(paths('yes'), ['nodes.if.output.key', 'inputData.token', 'inputData.list[0]["a b"]'], '“vars” runs')
  assert.deepEqual(paths('vars'), ['inputData.token', 'inputData.list[0]["a b"]'], 'it gets the input data')
  const plain = { nodes: [node('if'), node('yes')], edges: [{ source: 'if', target: 'yes' }] }
  assert.deepEqual(paths('yes', plain), ['nodes.if.output.key'], 'nothing uses the input data')
  const uses = { ...plain, nodes: [node('if'), { ...node('yes'), config: { text: '{{inputData.n}}' } }] }
  assert.deepEqual(paths('yes', uses).length, 3)
})
