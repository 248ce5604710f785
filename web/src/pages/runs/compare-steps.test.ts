import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pairSteps } from './compare-steps'
import type { Step } from './types'

const step = (nodeId: string, more: Partial<Step> = {}) =>
  ({
    nodeId,
    nodeType: 'set',
    title: nodeId.toUpperCase(),
    status: 'completed',
    startTime: '2030-01-01T00:00:00Z',
    endTime: '2030-01-01T00:00:01Z',
    input: {},
    output: { a: 1 },
    ...more,
  }) as Step

test('finds no difference between equal steps, whenever they ran', () => {
  const [pair] = pairSteps({ steps: [step('a')] }, { steps: [step('a', { startTime: '2031-01-01T00:00:00Z' })] })
  assert.deepEqual([pair?.differs, pair?.fields], [false, []])
})

test('compares input, output and error', () => {
  const failed = step('a', {
    status: 'failed',
    input: { id: 2 },
    output: null,
    error: { code: 'http_status', message: 'answered 422', exchange: { request: { url: 'http://x' } } },
  })
  const [pair] = pairSteps({ steps: [step('a', { input: { id: 1 } })] }, { steps: [failed] })
  assert.deepEqual(pair?.fields, [
    { path: ['input', 'id'], before: 1, after: 2 },
    { path: ['output'], before: { a: 1 }, after: undefined },
    { path: ['error'], before: undefined, after: { code: 'http_status', message: 'answered 422' } },
  ])
})

test('pairs steps by address, and keeps those of one run only', () => {
  const pairs = pairSteps({ steps: [step('a'), step('gone')] }, { steps: [step('new'), step('a')] })
  assert.deepEqual(
    pairs.map(({ address, before, after, differs }) => [address, Boolean(before), Boolean(after), differs]),
    [
      ['new', false, true, true],
      ['a', true, true, false],
      ['gone', true, false, true],
    ],
  )
})

test('compares nothing of a step that never began', () => {
  const pending = step('a', { status: 'pending', startTime: null, input: null, output: null })
  const [pair] = pairSteps({ steps: [pending] }, { steps: [pending] })
  assert.equal(pair?.differs, false)
  assert.deepEqual(
    pairSteps({ steps: [step('a')] }, { steps: [pending] })[0]?.fields.map(({ path, after }) => [path, after]),
    [
      [['input'], undefined],
      [['output'], undefined],
    ],
  )
})
