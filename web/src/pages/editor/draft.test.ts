import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftKey, dropDraft, keepDraft, readDraft } from './draft'
import { nextMinor } from './version'

function storage() {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}
const map = { nodes: [{ id: 'a', type: 'log', title: 'A', config: {} }] }
const saved = { map: { nodes: [] }, variables: [{ name: 'key', secret: true, default: null }] }

test('restores a draft without the values of secrets', () => {
  const store = storage()
  const key = draftKey('u', 'b')
  keepDraft(store, key, {
    map,
    variables: [
      { name: 'key', secret: true, default: 'hush-hush' },
      { name: 'n', default: 1 },
    ],
    version: '1.0.0',
    at: 5,
  })
  assert.ok(!store.kept.get(key)!.includes('hush'))
  const draft = readDraft(store, key, saved)!
  assert.deepEqual(draft.map, map)
  assert.deepEqual(draft.variables[0], { name: 'key', secret: true, default: null })
  dropDraft(store, key)
  assert.equal(readDraft(store, key, saved), undefined)
})

test('ignores a draft that equals the saved version or is invalid', () => {
  const store = storage()
  keepDraft(store, 'k', { ...saved, version: '1.0.0', at: 5 })
  assert.equal(readDraft(store, 'k', saved), undefined)
  for (const text of ['{', '1', '{"map":1}', '{"map":{},"variables":[]}']) {
    store.setItem('k', text)
    assert.equal(readDraft(store, 'k', saved), undefined)
  }
  const full = {
    ...store,
    setItem: () => {
      throw new Error('full')
    },
  }
  keepDraft(full, 'k', { map, variables: [], version: '1.0.0', at: 5 })
})

test('predicts the version that a save creates', () => {
  assert.equal(nextMinor('1.2.3'), '1.3.0')
  assert.equal(nextMinor('odd'), undefined)
})
