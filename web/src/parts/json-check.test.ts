import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkJson } from './json-check'

test('accepts valid JSON', () => {
  for (const text of [
    '1',
    ' {"a": [1, -2.5e3, "x\\n\\u00e9", true, false, null], "b": {}} ',
    '[]',
    '""',
    '12345678901234567890123',
  ]) {
    assert.equal(checkJson(text), undefined, text)
  }
})

test('reports position and reason of errors', () => {
  const cases: [string, number, number, RegExp][] = [
    ['', 1, 1, /missing value at the end/],
    ['{"a": 1,\n  "b" 2}', 2, 7, /expected :/],
    ['{\n  "a": 1,\n}', 2, 9, /trailing comma/],
    ["{'a': 1}", 1, 2, /key in double quotes/],
    ['[1 2]', 1, 4, /expected , or \]/],
    ['[1', 1, 1, /missing \]/],
    ['"abc', 1, 1, /closing quote/],
    ['"a\nb"', 1, 3, /line break/],
    ['"\\x"', 1, 2, /escape/],
    ['{"a": yes}', 1, 7, /"yes" is not a value/],
    ['01', 1, 2, /invalid number/],
    ['1 2', 1, 3, /unexpected text/],
    ['{"a":', 1, 6, /missing value/],
    ["'x'", 1, 1, /double quotes/],
    ['{"a":1,', 1, 8, /missing }/],
  ]
  for (const [text, line, column, message] of cases) {
    const fault = checkJson(text)
    assert.ok(fault, text)
    assert.deepEqual([fault.line, fault.column], [line, column], text)
    assert.match(fault.message, message)
  }
})

test('agrees with JSON.parse', () => {
  for (const text of [
    '-',
    '1.',
    '.5',
    '+1',
    'NaN',
    '[,]',
    '{,}',
    '{"a"}',
    '[1,]',
    'tru',
    '\u00a01',
    '1e',
    '"\u2028"',
    '[[[[]]]]',
    '-0',
    '\ufeff1',
  ]) {
    let good = true
    try {
      JSON.parse(text)
    } catch {
      good = false
    }
    assert.equal(checkJson(text) === undefined, good, JSON.stringify(text))
  }
})
