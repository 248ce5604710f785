import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeAddress } from './safe-address'

test('links only web and mail addresses', () => {
  for (const text of ['https://example.com/a?b', 'http://127.0.0.1:1', 'mailto:a@example.com', ' https://example.com'])
    assert.ok(safeAddress(text), text)
  for (const text of [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'JAVASCRIPT:x',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://example.com/1',
    '/relative',
    '//host',
    '',
    'https://',
  ]) {
    assert.equal(safeAddress(text), undefined, text)
  }
})
