import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemLabel, labelOf } from './item-label'
import { treeOf } from './step-tree'
import type { Step } from './types'

const cases: [name: string, value: unknown, label: string | undefined][] = [
  ['a text', 'alpha.example.org', 'alpha.example.org'],
  ['a number', 42, '42'],
  ['a title before a name', { name: 'ada', title: 'Dr Lovelace' }, 'Dr Lovelace'],
  ['a name before an id', { id: 7, name: 'Ada' }, 'Ada'],
  ['an id', { id: 7, amount: 3 }, '7'],
  ['a member that ends in name', { customer_name: 'Ada', amount: 3 }, 'Ada'],
  ['a member that ends in id', { orderId: 'o-1', amount: 3 }, 'o-1'],
  ['an empty name', { name: '', id: 7 }, '7'],
  ['a nested name', { name: { first: 'Ada' }, id: 7 }, '7'],
  ['a first member if none names it', { tags: [], week: 3, sold: 40 }, 'week: 3'],
  ['no scalar member', { tags: [], open: true }, undefined],
  ['a list', ['a'], undefined],
  ['nothing', null, undefined],
  ['blanks', '  ', undefined],
  ['lines', 'one\n  two', 'one two'],
  ['a long text', 'x'.repeat(60), `${'x'.repeat(47)}…`],
]

for (const [name, value, label] of cases)
  test(`labels an item by its value: ${name}`, () => assert.equal(labelOf(value), label))

test('labels an item by the input of its first step', () => {
  const step = (nodeId: string, at: number | null, input: unknown) =>
    ({ nodeId, status: 'completed', startTime: at === null ? null : new Date(at).toISOString(), input }) as Step
  const label = (...inner: Step[]) => itemLabel(treeOf([step('each', 0, []), ...inner])[0]!.items[0]!)
  assert.equal(label(step('each[0]/b', 20, { text: 'x' }), step('each[0]/a', 10, { name: 'Ada' })), 'Ada')
  assert.equal(label(step('each[0]/a', null, null)), undefined)
})
