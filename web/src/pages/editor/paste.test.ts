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

const marked: BlueprintMap = {
  nodes: [node('a'), node('b', '{{nodes.a.output}}', 312), node('c', '', 624)],
  edges: [{ source: 'a', target: 'b' }],
  notes: [
    { id: 'note-1', text: 'inside', position: { x: 16, y: 88 }, size: { width: 144, height: 72 }, colour: 'blue' },
    { id: 'note-2', text: 'elsewhere', position: { x: 0, y: 800 }, size: { width: 144, height: 72 } },
  ],
  groups: [
    { id: 'group-1', title: 'Both', nodes: ['a', 'b'] },
    { id: 'group-2', title: 'Last', nodes: ['c'] },
  ],
}
marked.nodes[1]!.position = { x: 312, y: 120 } // so that the frame is taller than its nodes

test('copies the groups whose nodes are all copied, the notes inside their frames, and the selected ones', () => {
  const of = (ids: string[], notes: string[] = []) => {
    const { notes: found, groups } = clipOf(copyText(marked, new Set(ids), new Set(notes)))
    return [groups!.map(({ title }) => title), found!.map(({ text }) => text)]
  }
  assert.deepEqual(of(['a', 'b']), [['Both'], ['inside']])
  assert.deepEqual(of(['a', 'b', 'c'], ['note-2']), [
    ['Both', 'Last'],
    ['inside', 'elsewhere'],
  ])
  assert.deepEqual(of(['a']), [[], []], 'a part of a group is not the group')
  assert.deepEqual(of([], ['note-2']), [[], ['elsewhere']])
})

test('pastes notes and groups with new IDs, beside the nodes as they were', () => {
  const clip = clipOf(copyText(marked, new Set(['a', 'b'])))
  const { map, ids, notes } = paste(marked, clip)
  assert.deepEqual(ids, ['a_2', 'b_2'])
  assert.deepEqual(notes, ['note-3'])
  assert.deepEqual((map.groups as unknown[])[2], { id: 'group-3', title: 'Both', nodes: ['a_2', 'b_2'] })
  assert.deepEqual((map.notes as unknown[])[2], {
    id: 'note-3',
    text: 'inside',
    position: { x: 48, y: 120 },
    size: { width: 144, height: 72 },
    colour: 'blue',
  })
  const elsewhere = paste({ nodes: [] }, clip, { x: 400, y: 80 }).map
  assert.deepEqual(elsewhere.groups, [{ id: 'group-1', title: 'Both', nodes: ['a', 'b'] }])
  assert.deepEqual((elsewhere.notes as { position: Position }[])[0]!.position, { x: 416, y: 168 })
})

test('pastes a note alone, and neither notes nor groups into the body of a loop', () => {
  const note = clipOf(copyText(marked, new Set(), new Set(['note-2'])))
  const alone = paste({ nodes: [node('x')] }, note, { x: 8, y: 8 })
  assert.deepEqual([alone.ids, alone.notes, alone.problem], [[], ['note-1'], undefined])
  const body = paste({ nodes: [] }, clipOf(copyText(marked, new Set(['a', 'b']))), { x: 0, y: 0 }, true)
  assert.deepEqual([body.map.notes, body.map.groups, body.notes], [undefined, undefined, []])
})

test('duplicates a group with its notes', () => {
  const { map, notes } = duplicate(marked, new Set(['a', 'b']), noExpressions)
  assert.deepEqual([(map.groups as unknown[]).length, notes], [3, ['note-3']])
})
