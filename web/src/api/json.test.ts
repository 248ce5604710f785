import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { jsonOver, parseJson, share, show } from './json'

// Node 20 has JSON.rawJSON behind a flag that applies to contexts created later; newer versions always have it.
setFlagsFromString('--harmony-json-parse-with-source')
const exact = jsonOver(runInNewContext('JSON'))
const plain = jsonOver({
  parse: (text) => JSON.parse(text),
  stringify: (value, _none, space) => JSON.stringify(value, null, space),
})

test('parses numbers that a double can hold as numbers', () => {
  for (const text of [
    '0',
    '-1',
    '1.0',
    '1e3',
    '0.1',
    '0.30000000000000004',
    '9007199254740991',
    '1.50',
    '100000000000000000000',
    '1E-7',
  ]) {
    assert.equal(typeof exact.parse(text), 'number', text)
  }
})

test('keeps the digits of numbers that a double cannot hold', () => {
  for (const text of [
    '9007199254740993',
    '12345678901234567890',
    '0.1000000000000000055',
    '1e400',
    '-0',
    '1e-400',
    '3.14159265358979323846',
  ]) {
    const value = exact.parse(text)
    assert.ok(exact.isRaw(value), text)
    assert.equal(exact.show(value, 0), text)
  }
})

test('writes a document with every digit it was read with', () => {
  const text = '{"id":9007199254740993,"of":[1,2.5,18446744073709551615],"text":"9007199254740993","__proto__":1}'
  assert.equal(exact.show(exact.parse(text), 0), text)
})

test('reads like JSON.parse in an engine without raw numbers', () => {
  assert.equal(plain.parse('9007199254740993'), 9007199254740992)
  assert.equal(plain.isRaw({ rawJSON: '1' }), false)
  assert.equal(plain.show(undefined), 'undefined')
})

test('throws on invalid JSON', () => {
  assert.throws(() => parseJson('{'), SyntaxError)
})

test('shares unchanged parts, and only those', () => {
  const before = { a: { b: 1 }, list: [{ c: 1 }, { c: 2 }], gone: 1 }
  const after = share(before, { a: { b: 1 }, list: [{ c: 1 }, { c: 3 }] }) as typeof before
  assert.equal(after.a, before.a)
  assert.equal(after.list[0], before.list[0])
  assert.notEqual(after.list, before.list)
  assert.equal(show(after, 0), '{"a":{"b":1},"list":[{"c":1},{"c":3}]}')
  assert.equal(share(before, structuredClone(before)), before)
  assert.deepEqual(share([1], { 0: 1 }), { 0: 1 })
  assert.equal(share(null, before), before)
})
