import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expiry, whyNot } from './may-answer'

test('decides who may answer', () => {
  const starter = { userId: 'u', principal: 'u', canManage: false }
  const manager = { userId: 'm', principal: 'u', canManage: true }
  const other = { userId: 'x', principal: 'u', canManage: false }
  const allowed = (kind: 'human' | 'approval' | 'oauth' | 'unknown-outcome' | 'budget') =>
    [starter, manager, other].map((who) => whyNot(kind, who) === null)
  assert.deepEqual(allowed('human'), [true, true, false])
  assert.deepEqual(allowed('approval'), [false, true, false])
  assert.deepEqual(allowed('unknown-outcome'), [false, true, false])
  assert.deepEqual(allowed('budget'), [false, true, false])
  assert.deepEqual(allowed('oauth'), [true, false, false])
  assert.equal(whyNot('approval', { userId: 'x', principal: undefined, canManage: undefined }), null)
})

test('shows the remaining time', () => {
  const show = (length: number) => `${length} ms`
  assert.equal(expiry(undefined, 0, show), null)
  assert.equal(expiry('1970-01-01T00:00:10Z', 500, show), 'expires in 10000 ms')
  assert.equal(expiry('1970-01-01T00:00:10Z', 10_000, show), 'expired')
})
