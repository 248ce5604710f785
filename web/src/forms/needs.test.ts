import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Language } from './completion'
import { needsOf, sameNeeds, showEvaluated } from './needs'
import type { Names } from './names'

const order = { total: 12.5 }
const names: Names = {
  input: { value: order, seen: true },
  both: { members: { a: { value: 1, seen: true }, b: { schema: { type: 'string' } } } },
  later: { schema: { type: 'string' } },
  now: { schema: { type: 'string' } },
  key: { schema: { type: 'string' }, secret: true },
  nodes: {
    closed: true,
    members: {
      fetch: { members: { output: { value: [1, 2], seen: true } } },
      ask: { members: { link: { schema: { type: 'string' } } } },
    },
  },
}
const paths = (text: string, language: Language = 'template') =>
  needsOf(text, language, names)?.leaves.map(({ path }) => path.join('.'))

test('finds the values that an expression needs, and no others', () => {
  assert.deepEqual(paths('{{= input.total * 2 }}'), ['input'])
  assert.deepEqual(paths('Dear {{input.name}}, {{= len(nodes.fetch.output) }}'), ['input', 'nodes.fetch.output'])
  assert.deepEqual(paths('filter(nodes.fetch.output, # > input.total)', 'expression'), ['nodes.fetch.output', 'input'])
  assert.deepEqual(paths('keys(nodes)', 'expression'), ['nodes.fetch.output'])
  assert.deepEqual(paths('let x = both; x.a', 'expression'), ['both.a'])
  assert.deepEqual(paths('now > "2026"', 'expression'), [])
  assert.deepEqual(paths('1 + 1', 'expression'), [])
  assert.equal(needsOf('{{= input.total }}', 'template', names)!.leaves[0]!.value, order, 'the value itself')
})

test('names the first value that is not known', () => {
  assert.equal(needsOf('later + input.total', 'expression', names)!.missing, 'later')
  assert.equal(needsOf('nodes.ask.link + "x"', 'expression', names)!.missing, 'nodes.ask')
  assert.equal(needsOf('{{= input.total }}', 'template', names)!.missing, undefined)
})

test('names a secret, also in a text without an expression', () => {
  for (const text of ['{{key}}', 'Bearer {{key}}', '{{= later + key }}', '{{key ?? "none"}}'])
    assert.equal(needsOf(text, 'template', names)!.secret, 'key', text)
  assert.equal(needsOf('input.total > len(key)', 'expression', names)!.secret, 'key')
  assert.equal(needsOf('let key = 1; key', 'expression', names)!.secret, undefined)
  assert.equal(needsOf('input.key', 'expression', names)!.secret, undefined)
})

test('asks for nothing that the server need not compute, or cannot', () => {
  for (const text of [
    '',
    'plain',
    '{{input.total}}',
    '{{= input.total',
    '{{= }}',
    '{{= gone }}',
    '{{= "open }}',
    '{{= 1 }} {{input.',
  ])
    assert.equal(needsOf(text, 'template', names), undefined, text)
  for (const text of ['', '  ', '"open', 'gone.x']) assert.equal(needsOf(text, 'expression', names), undefined, text)
})

test('compares values by identity', () => {
  const needs = () => needsOf('input.total + both.a', 'expression', names)
  assert.equal(sameNeeds(needs(), needs()), true)
  const copied: Names = { ...names, input: { value: { ...order }, seen: true } }
  assert.equal(sameNeeds(needs(), needsOf('input.total + both.a', 'expression', copied)), false)
  assert.equal(sameNeeds(needs(), undefined), false)
})

test('shows a value alone as JSON, and one within a text as it is', () => {
  assert.equal(showEvaluated('Ada', '{{= input.name }}', 'template'), '"Ada"')
  assert.equal(showEvaluated('Dear Ada', 'Dear {{= input.name }}', 'template'), 'Dear Ada')
  assert.equal(showEvaluated('Ada', 'input.name', 'expression'), '"Ada"')
  assert.equal(showEvaluated({ a: [1] }, '{{= x }}', 'template'), '{"a":[1]}')
})
