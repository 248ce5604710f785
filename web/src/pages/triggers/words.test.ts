import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressEnd } from './words.ts'

test('distinguishes URLs by their end', () => {
  assert.equal(addressEnd('http://127.0.0.1:8787/webhooks/blueprint/14faa97b-3525-46b5-b8b3-48f506733552'), '3552')
  assert.equal(addressEnd('https://example.org/'), '')
  assert.equal(addressEnd(null), '')
})
