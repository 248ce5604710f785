import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlueprintMap } from './map'
import { firstView } from './view'

const map: BlueprintMap = { nodes: [{ id: 'a', type: 'log', title: 'a', config: {}, position: { x: 0, y: 0 } }] }
const noted = (x: number, y: number): BlueprintMap => ({
  ...map,
  notes: [{ id: 'n', text: 't', position: { x, y }, size: { width: 240, height: 120 } }],
})

test('the first view shows the notes and the frames of groups too', () => {
  const { x, y, zoom } = firstView(noted(320, 200), 900, 700)
  const inside = (left: number, top: number, right: number, bottom: number) =>
    left * zoom + x >= 0 && top * zoom + y >= 0 && right * zoom + x <= 900 && bottom * zoom + y <= 700
  assert.ok(inside(0, 0, 560, 320))
  const framed = firstView({ ...map, groups: [{ id: 'g', title: 'G', nodes: ['a'] }] }, 320, 200)
  assert.ok(-56 * framed.zoom + framed.y >= 0, `the title is visible: ${JSON.stringify(framed)}`)
})

test('a note far away does not make the nodes unreadable', () => {
  assert.ok(firstView(noted(9000, 9000), 900, 700).zoom >= 0.55)
})

test('a low canvas shows all nodes rather than a part of them with notes', () => {
  const { y, zoom } = firstView(noted(0, 400), 900, 230)
  assert.ok(zoom >= 0.55 && y >= 0 && 60 * zoom + y <= 230)
})

test('a graph that is too wide begins where its subject is visible', () => {
  const wide: BlueprintMap = {
    nodes: Array.from({ length: 9 }, (_, at) => ({ ...map.nodes[0]!, id: `n${at}`, position: { x: at * 320, y: 0 } })),
  }
  const { x, zoom } = firstView(wide, 900, 300, undefined, ['n7'])
  assert.ok(zoom >= 0.55 && 2240 * zoom + x >= 0 && 2464 * zoom + x <= 900, `${x} at ${zoom}`)
  assert.ok(firstView(wide, 900, 300).x > x)
})
