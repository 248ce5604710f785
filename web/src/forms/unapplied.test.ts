import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnappliedTexts } from './unapplied'

const place = { level: [], nodeId: 'a' }
const message = 'Not applied: invalid JSON'

test('keeps a text until its field holds a value again', () => {
  const texts = new UnappliedTexts()
  let changes = 0
  texts.subscribe(() => {
    changes++
  })
  texts.put(place, ['config', 'x'], { text: '{', message })
  const before = texts.snapshot()
  texts.put(place, ['config', 'x'], { text: '{', message })
  assert.equal(texts.snapshot(), before, 'the same says nothing new')
  assert.equal(texts.at(place, ['config', 'x']), '{')
  assert.equal(texts.at({ level: ['loop'], nodeId: 'a' }, ['config', 'x']), undefined)
  texts.put(place, ['config', 'x'], undefined)
  assert.deepEqual([texts.snapshot().size, changes], [0, 2])
})

test('drops a text with its field and keeps it with its node', () => {
  const texts = new UnappliedTexts()
  const hide = texts.show(place, ['config', 'x'])
  texts.put(place, ['config', 'x'], { text: '{', message })
  texts.put({ level: [], nodeId: 'b' }, ['config', 'x'], { text: '[', message })
  texts.prune(place)
  assert.equal(texts.snapshot().size, 2, 'the field is shown, the other node is not')
  hide()
  assert.equal(texts.snapshot().size, 2, 'another node may be shown now')
  texts.prune(place)
  assert.deepEqual(
    [...texts.snapshot().values()].map((each) => each.text),
    ['['],
    'the node is shown without the field',
  )
})
