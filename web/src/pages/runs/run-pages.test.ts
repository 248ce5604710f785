import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ListedRun, type RunPage, withFirst, withOlder } from './run-pages'

function page(ids: string, next: string | null = 'more'): RunPage {
  return { runs: [...ids].map((executionId) => ({ executionId }) as ListedRun), next, searchedUntil: null }
}

const ids = (list: { runs: ListedRun[] }) => list.runs.map((run) => run.executionId).join('')

test('lists the first page', () => {
  assert.equal(ids(withFirst(null, page('cba'), false)), 'cba')
})

test('adds older pages that survive a new first page', () => {
  const list = withOlder(withFirst(null, page('fed'), false), page('cba', null))
  const again = withFirst(list, page('gfe'), false)
  assert.deepEqual([ids(again), again.next, again.held], ['gfedcba', null, 0])
})

test('holds back new runs while the user reads further down', () => {
  const list = withOlder(withFirst(null, page('fed'), false), page('cba', null))
  const held = withFirst(list, page('hgf'), true)
  assert.deepEqual([ids(held), held.held], ['fedcba', 2])
  assert.equal(ids(withFirst(held, page('hgf'), false)), 'hgfedcba')
})

test('removes runs that no longer match the filter', () => {
  const list = withFirst(null, page('dcb'), false)
  assert.equal(ids(withFirst(list, page('db'), false)), 'db')
  assert.equal(ids(withFirst(list, page('d', null), false)), 'd')
  assert.equal(ids(withFirst(list, page('', null), false)), '')
})

test('restarts the list after a gap, or holds it back', () => {
  const list = withFirst(null, page('cba'), false)
  assert.equal(ids(withFirst(list, page('zyx'), false)), 'zyx')
  const held = withFirst(list, page('zyx'), true)
  assert.deepEqual([ids(held), held.held], ['cba', 3])
})

test('never lists a run twice', () => {
  assert.equal(ids(withOlder(withFirst(null, page('cb'), false), page('ba', null))), 'cba')
})
