import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSight, neighbour, rowsOf } from './step-rows'
import { around, nodePathOf, placeOf, treeOf } from './step-tree'
import type { Step } from './types'

function step(nodeId: string, status: Step['status'] = 'completed', from?: number, to?: number): Step {
  const time = (at?: number) => (at === undefined ? null : new Date(at).toISOString())
  return {
    nodeId,
    nodeType: 'set',
    title: '',
    status,
    startTime: time(from),
    endTime: time(to),
    durationMs: null,
    attempt: 1,
    input: null,
    output: null,
  }
}

const nothing = { toggled: new Map<string, boolean>() }

test('parses a step path from its inner end', () => {
  assert.equal(placeOf('plain'), null)
  assert.deepEqual(placeOf('a[1]/b[2]/c'), { loop: 'a[1]/b', item: 'a[1]/b[2]', index: 2, inner: 'c' })
  assert.equal(nodePathOf('a[1]/b[2]/c'), 'a/b/c')
  assert.equal(nodePathOf('odd/id'), 'odd%2Fid')
  assert.deepEqual(around('a[1]/b[2]/c'), ['a', 'a[1]', 'a[1]/b', 'a[1]/b[2]'])
})

test('groups steps of items under their for-each node, by index', () => {
  const tree = treeOf([step('first'), step('loop[10]/x'), step('loop'), step('loop[2]/x'), step('loop[2]/y')])
  assert.deepEqual(
    tree.map((node) => node.step.nodeId),
    ['first', 'loop'],
  )
  assert.deepEqual(
    tree[1]?.items.map((item) => [item.index, item.steps.length]),
    [
      [2, 2],
      [10, 1],
    ],
  )
})

test('treats an ID that only looks like a path as a node', () => {
  const tree = treeOf([step('odd[1]/name'), step('other')])
  assert.deepEqual(
    tree.map((node) => node.step.nodeId),
    ['odd[1]/name', 'other'],
  )
})

test('computes the state of an item from its steps', () => {
  const of = (...steps: Step[]) => treeOf([step('l', 'running'), ...steps])[0]?.items[0]
  assert.equal(of(step('l[0]/a'), step('l[0]/b', 'pending'))?.status, 'running')
  assert.equal(of(step('l[0]/a'), step('l[0]/b', 'failed'))?.status, 'failed')
  assert.equal(of(step('l[0]/a'), step('l[0]/b', 'paused'))?.status, 'paused')
  assert.equal(of(step('l[0]/a', 'skipped'))?.status, 'skipped')
  assert.equal(of(step('l[0]/a', 'completed', 5, 9), step('l[0]/b', 'completed', 10, 12))?.end, 12)
})

test('collapses many items until the user opens them or selects a step inside', () => {
  const steps = [
    step('l'),
    ...Array.from({ length: 50 }, (_, index) => [step(`l[${index}]/a`), step(`l[${index}]/b`)]).flat(),
  ]
  const tree = treeOf(steps)
  assert.equal(rowsOf(tree, nothing).length, 1)
  const open = rowsOf(tree, { toggled: new Map([['l', true]]) })
  assert.equal(open.length, 51)
  assert.deepEqual([open[1]?.kind, open[1]?.title, open[1]?.within], ['item', 'Item 0', 2])
  const chosen = rowsOf(tree, { ...nothing, selected: 'l[7]/b' })
  assert.equal(chosen.length, 53)
  assert.ok(chosen.some((row) => row.address === 'l[7]/b' && row.depth === 2))
})

test('uses one row per item when items have one step', () => {
  const rows = rowsOf(treeOf([step('l'), step('l[0]/a'), step('l[1]/a')]), nothing)
  assert.deepEqual(
    rows.map((row) => row.title),
    ['l', '[0] a', '[1] a'],
  )
})

test('keeps the parents of steps that match a status filter', () => {
  const tree = treeOf([step('before'), step('l', 'failed'), step('l[0]/a'), step('l[1]/a', 'failed')])
  const rows = rowsOf(tree, { ...nothing, only: new Set(['failed']) })
  assert.deepEqual(
    rows.map((row) => row.address),
    ['l', 'l[1]/a'],
  )
})

test('moves with the keyboard and stops at the ends', () => {
  const rows = rowsOf(treeOf([step('a'), step('b')]), nothing)
  assert.equal(neighbour(rows, null, 1)?.address, 'a')
  assert.equal(neighbour(rows, 'a', 1)?.address, 'b')
  assert.equal(neighbour(rows, 'b', 1), null)
})

test('renders only visible rows', () => {
  assert.deepEqual(inSight(0, 400, 40, 10_000, 5), { from: 0, to: 15 })
  assert.deepEqual(inSight(4000, 400, 40, 10_000, 5), { from: 95, to: 115 })
  assert.deepEqual(inSight(999_999, 400, 40, 20, 5), { from: 15, to: 20 })
})

test('reads each of ten thousand steps only a few times', () => {
  let reads = 0
  const watched = (step: Step): Step =>
    new Proxy(step, {
      get(target, name) {
        if (name === 'nodeId') reads++
        return target[name as keyof Step]
      },
    })
  const steps = [
    step('l'),
    ...Array.from({ length: 10_000 }, (_, index) => step(`l[${index}]/a`, 'completed', index, index + 1)),
  ].map(watched)
  const rows = rowsOf(treeOf(steps), { toggled: new Map([['l', true]]) })
  assert.equal(rows.length, 10_001)
  assert.ok(reads < 20 * steps.length, `${reads} reads`)
})
