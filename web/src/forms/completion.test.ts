import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accept, type Language, spotAt, suggest } from './completion'
import type { Names } from './names'

const names: Names = {
  region: { value: 'eu', seen: true, note: 'variable' },
  inputData: { value: { orders: [{ id: 7, 'unit price': 1.5 }], customer: { name: 'Ada' } }, seen: true },
  input: { schema: { type: 'object', properties: { status: { type: 'integer' }, body: {} } } },
  nodes: {
    closed: true,
    members: {
      fetch: {
        closed: true,
        members: { output: { schema: { type: 'object', properties: { status: { type: 'integer' } } } } },
      },
      'my-node': { closed: true, members: { output: {} } },
    },
  },
  now: { schema: { type: 'string' } },
}

// "|" marks the caret.
function at(marked: string, language: Language = 'template') {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const spot = spotAt(text, caret, language)
  return { text, spot, labels: spot ? suggest(spot, names).map((one) => one.label) : [] }
}

function typed(marked: string, label: string, language: Language = 'template') {
  const { text, spot } = at(marked, language)
  const one = suggest(spot!, names).find((suggestion) => suggestion.label === label)
  assert.ok(one, `${label} at ${marked}`)
  const done = accept(text, spot!, one)
  return `${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`
}

test('suggests names only inside braces', () => {
  for (const marked of ['a|', '{|', '{{a}}|', '{{a}} b|', '{{a ?? "|', '{{a[0]|', '{{= "a|', '{{= 1|', '{{= a // b|']) {
    assert.equal(at(marked).spot, undefined, marked)
  }
  for (const marked of ['{{|', '{{ |}}', 'x {{a}} {{|', '{{inputData.|', '{{=|', '{{= 1 + |', '{{a["}}"].|']) {
    assert.ok(at(marked).spot, marked)
  }
})

test('suggests names first, then their fields', () => {
  assert.deepEqual(
    at('{{|').labels,
    ['region', 'inputData', 'input', 'now', 'nodes'].sort(
      (a, b) => Object.keys(names).indexOf(a) - Object.keys(names).indexOf(b),
    ),
  )
  assert.deepEqual(at('{{nodes.|').labels, ['fetch.output', '["my-node"].output'])
  assert.deepEqual(at('{{inputData.|').labels, ['orders', 'customer'])
  assert.deepEqual(at('{{inputData.orders[3].|').labels, ['id', '["unit price"]'])
  assert.deepEqual(at('{{stat|').labels, ['input.status', 'nodes.fetch.output.status'])
  assert.deepEqual(at('{{inputData.cust|').labels, ['customer', 'customer.name'])
  assert.deepEqual(at('{{nothing.|').labels, [])
})

test('inserts the chosen name as a path', () => {
  assert.equal(typed('{{reg|', 'region'), '{{region}}|')
  assert.equal(typed('a {{ |}} b', 'now'), 'a {{ now}}| b')
  assert.equal(typed('{{inputData.|}}', 'customer'), '{{inputData.customer|}}')
  assert.equal(typed('{{nodes.|', '["my-node"].output'), '{{nodes["my-node"].output}}|')
  assert.equal(typed('{{nodes["my|', '["my-node"].output'), '{{nodes["my-node"].output}}|')
  assert.equal(typed('{{nodes["my|"]}}', '["my-node"].output'), '{{nodes["my-node"].output}}|')
  assert.equal(typed('{{inputData.orders[0].uni|', '["unit price"]'), '{{inputData.orders[0]["unit price"]}}|')
  assert.equal(typed('{{re|gion}}', 'region'), '{{region}}|')
  assert.equal(typed('{{a|{{now}}', 'region'.replace('region', 'inputData')), '{{inputData|}}{{now}}')
})

test('suggests names, functions and list items in expressions', () => {
  assert.equal(typed('input.sta|', 'status', 'expression'), 'input.status|')
  assert.equal(typed('len(inp|)', 'inputData', 'expression'), 'len(inputData|)')
  assert.equal(typed('fil|', 'filter(list, condition)', 'expression'), 'filter(|')
  assert.deepEqual(at('filter(inputData.orders, .|)', 'expression').labels, ['id', '["unit price"]'])
  assert.deepEqual(at('filter(inputData.orders, #.i|)', 'expression').labels.slice(0, 1), ['id'])
  assert.deepEqual(at('filter(inputData.orders, .i|)', 'expression').labels.slice(0, 1), ['id'])
  assert.deepEqual(at('inputData?.cus|', 'expression').labels[0], 'customer')
  assert.equal(at('"inp|"', 'expression').spot, undefined)
  assert.equal(at('1 + |', 'expression').spot?.quiet, true)
  assert.equal(typed('{{= upper(reg|', 'region'), '{{= upper(region|}}')
  assert.equal(typed('nodes["my|', '["my-node"].output', 'expression'), 'nodes["my-node"].output|')
  assert.equal(typed('x con|', 'contains', 'expression'), 'x contains|')
})

test('shows types and sample values', () => {
  const { spot } = at('{{|')
  const found = Object.fromEntries(suggest(spot!, names).map((one) => [one.label, one]))
  assert.equal(found.region?.type, 'text')
  assert.equal(found.region?.sample, 'eu')
  assert.equal(found.inputData?.more, true)
  assert.equal(found.now?.type, 'text')
})
