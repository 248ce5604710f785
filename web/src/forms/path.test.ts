import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isName, readPath, writePath } from './path'

test('writes path segments as the server reads them', () => {
  assert.equal(writePath(['nodes', 'my-node', 'output', 0, 'name']), 'nodes["my-node"].output[0].name')
  assert.equal(writePath(['inputData', 'a "b"', '7', 'größe', '']), 'inputData["a \\"b\\""].7.größe[""]')
  assert.equal(isName('a_1'), true)
  assert.equal(isName('a b'), false)
  assert.equal(isName(''), false)
})

test('parses paths', () => {
  for (const steps of [['a'], ['nodes', 'my-node', 'output', 0], ['x', 'a]b"\\', 12, 'c']]) {
    const text = writePath(steps)
    assert.deepEqual(readPath(text), { steps, length: text.length })
    assert.deepEqual(readPath(`${text} ?? 1`), { steps, length: text.length })
  }
})

test('reports where a path is invalid', () => {
  assert.deepEqual(readPath('').length, 0)
  assert.equal(readPath('a.').error?.startsWith('expected a key'), true)
  assert.equal(readPath('a.b[x]').length, 4)
  assert.ok(readPath('a["b]').error)
  assert.ok(readPath('a[-1]').error)
})
