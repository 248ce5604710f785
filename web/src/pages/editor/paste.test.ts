import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap, MapNode, Position } from '../../graph/map'
import { type Clip, copyText, duplicate, paste as pasteWith, readClip } from './paste'

const noExpressions = () => []
const paste = (map: BlueprintMap, clip: Clip, at?: Position, inLoop = false) =>
  pasteWith(map, clip, at, noExpressions, inLoop)
const node = (id: string, text = '', x = 0): MapNode => ({
  id,
  type: 'template',
  title: id,
  config: { text },
  position: { x, y: 0 },
})
const clipOf = (text: string): Clip => {
  const read = readClip(text)
  assert.ok('clip' in read, JSON.stringify(read))
  return read.clip
}
const graph: BlueprintMap = {
  nodes: [node('a'), node('b', '{{nodes.a.output}}', 312)],
  edges: [{ source: 'a', target: 'b', id: 'e', label: 'kept' }],
}

test('pastes copied nodes with new IDs', () => {
  const clip = clipOf(copyText(graph, new Set(['a', 'b'])))
  const { map, ids, renamed } = paste(graph, clip)
  assert.deepEqual(ids, ['a_2', 'b_2'])
  assert.equal(map.nodes[3]!.config.text, '{{nodes.a_2.output}}')
  assert.deepEqual(map.edges?.[1], { source: 'a_2', target: 'b_2', id: 'e', label: 'kept' })
  assert.deepEqual(
    [...renamed],
    [
      ['a', 'a_2'],
      ['b', 'b_2'],
    ],
  )
  assert.deepEqual(map.nodes[2]!.position, { x: 32, y: 32 })
  assert.deepEqual(paste(graph, clip, { x: 100, y: 200 }).map.nodes[3]!.position, { x: 416, y: 200 })
  assert.deepEqual(
    paste(graph, clip, { x: 100, y: 0 })
      .map.nodes.slice(2)
      .map((each) => each.position),
    [
      { x: 104, y: 88 },
      { x: 416, y: 88 },
    ],
    'not on top of others',
  )
})

test('reads pasted text', () => {
  const one = '{"id":"x","type":"log","title":"X","config":{}}'
  assert.equal(clipOf(one).nodes.length, 1)
  assert.equal(clipOf(`[${one}]`).ordered, true)
  assert.equal(clipOf(`{"title":"File","blueprint_map":{"nodes":[${one}],"edges":[]}}`).nodes[0]!.id, 'x')
  assert.deepEqual(clipOf('{"id":"x","type":"log"}').nodes[0], { id: 'x', type: 'log', title: 'x', config: {} })
})

test('refuses invalid text', () => {
  const cases: [string, RegExp][] = [
    ['', /no text/],
    ['hello', /not JSON/],
    ['{"a":1}', /no list named nodes/],
    ['{"nodes":[]}', /empty/],
    ['{"nodes":[1]}', /nodes\[0\] must be an object/],
    ['{"nodes":[{"id":"x"}]}', /nodes\[0\]\.type/],
    ['{"nodes":[{"id":"x","type":"a"},{"id":"x","type":"a"}]}', /nodes\[1\]\.id: duplicate ID x/],
    ['{"nodes":[{"id":"x","type":"a"}],"edges":[{"source":"x","target":"y"}]}', /edges\[0\]\.target/],
    [
      '{"nodes":[{"id":"x","type":"a"},{"id":"y","type":"a"}],"edges":[{"source":"x","target":"y"},{"source":"y","target":"x"}]}',
      /cycle/,
    ],
    ['{"nodes":[{"id":"x","type":"a"}],"edges":[{"source":"x","target":"x"}]}', /itself/],
  ]
  for (const [text, want] of cases) {
    const read = readClip(text)
    assert.ok('problem' in read, text)
    assert.match(read.problem, want)
  }
})

test('pastes lists without edges', () => {
  const line: BlueprintMap = { nodes: [node('a'), node('b')] }
  const copied = clipOf(copyText(line, new Set(['a', 'b'])))
  assert.equal(copied.ordered, true)
  assert.deepEqual(
    paste(graph, copied).map.edges?.slice(1),
    [{ source: 'a_2', target: 'b_2' }],
    'in a graph the order becomes edges',
  )
  assert.equal(paste(line, copied).map.edges, undefined)
  assert.equal(paste(line, clipOf(copyText(graph, new Set(['a', 'b'])))).ordered, true)
  assert.equal(paste({ nodes: [] }, clipOf(copyText(graph, new Set(['a', 'b'])))).ordered, false)
  const gate: BlueprintMap = { nodes: [{ ...node('ask'), type: 'approval-gate' }, node('rejected')] }
  const both = paste(gate, clipOf(copyText(graph, new Set(['a', 'b']))))
  assert.deepEqual(
    both.map.edges?.map((edge) => [edge.source, edge.sourceHandle, edge.target]),
    [
      ['ask', 'approved', 'rejected'],
      ['ask', 'rejected', 'rejected_2'],
      ['a', undefined, 'b'],
    ],
    'a graph joins a sequence',
  )
  assert.match(paste(gate, clipOf(copyText(graph, new Set(['a', 'b']))), undefined, true).problem!, /rejection/)
})

test('avoids new IDs that the pasted nodes use', () => {
  const map: BlueprintMap = { nodes: [node('a'), node('z')], edges: [{ source: 'a', target: 'z' }] }
  const { ids } = paste(map, { nodes: [node('a', '{{nodes.a_2.output}}'), node('a_2')], edges: [], ordered: false })
  assert.deepEqual(ids, ['a_3', 'a_2'])
})

test('connects a duplicate to the inputs of the original and keeps digits', () => {
  const map: BlueprintMap = {
    ...graph,
    nodes: [graph.nodes[0]!, { ...graph.nodes[1]!, config: { text: '{{input}}', n: JSON.parse('12345678901') } }],
  }
  const copy = duplicate(map, new Set(['b']), noExpressions)
  assert.deepEqual(copy.ids, ['b_2'])
  assert.deepEqual(copy.map.edges?.[1], { source: 'a', target: 'b_2', id: 'e', label: 'kept' })
  assert.equal(copy.map.nodes[2]!.config.n, 12345678901)
})
