import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnappliedTexts } from '../../forms/unapplied'
import { placedTexts } from './unapplied-places'

const place = { level: [], nodeId: 'a' }
const message = 'Not applied: invalid JSON'

test('ignores texts of removed nodes and variables', () => {
  const texts = new UnappliedTexts()
  texts.put(place, ['config', 'x'], { text: '{', message })
  texts.put({ level: ['loop'], nodeId: 'a' }, [], { text: '{', message })
  texts.put('variables', [0, 'default'], { text: '{', message })
  const node = { id: 'a', type: 'log', title: '', config: {} }
  const count = (nodes: object[], variables: unknown[]) =>
    placedTexts(texts.snapshot().values(), { map: { nodes: nodes as never }, variables }).length
  assert.equal(count([], []), 0)
  assert.equal(count([node], [{}]), 2)
  assert.equal(count([node, { id: 'loop', type: 'for-each', title: '', config: { nodes: [node] } }], [{}]), 3)
})
