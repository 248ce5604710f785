import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { changeOf, compact } from './config-change.ts'
import { hex, hmacSha256, plainHmac } from './hmac.ts'
import { curlOf, newSecret, signedHeaders, standardKey } from './signature.ts'

test('computes HMAC with and without the browser API', async () => {
  for (const [key, text] of [
    ['', ''],
    ['k', 'x'.repeat(55)],
    ['k', 'x'.repeat(56)],
    ['key'.repeat(40), '{"a":"é😀"}'],
    ['s', 'y'.repeat(100_000)],
  ] as const) {
    const want = createHmac('sha256', key).update(text).digest('hex')
    const bytes = new TextEncoder().encode(key)
    assert.equal(hex(await hmacSha256(bytes, text)), want)
    assert.equal(hex(plainHmac(bytes, new TextEncoder().encode(text))), want)
  }
})

test('signs for each preset', async () => {
  const given = { secret: 'geheim', body: '{"a":1}\n', seconds: 1_700_000_000, id: 'd1' }
  const mac = (before: string, encoding: 'hex' | 'base64' = 'hex') =>
    createHmac('sha256', 'geheim')
      .update(before + given.body)
      .digest(encoding)
  const of = (preset: string) => signedHeaders({ ...given, preset })
  assert.deepEqual(await of(''), [['X-Webhook-Signature', `sha256=${mac('')}`]])
  assert.deepEqual(await of('github'), [
    ['X-GitHub-Delivery', 'd1'],
    ['X-Hub-Signature-256', `sha256=${mac('')}`],
  ])
  assert.deepEqual(await of('stripe'), [['Stripe-Signature', `t=1700000000,v1=${mac('1700000000.')}`]])
  assert.deepEqual(await of('slack'), [
    ['X-Slack-Request-Timestamp', '1700000000'],
    ['X-Slack-Signature', `v0=${mac('v0:1700000000:')}`],
  ])
  assert.deepEqual((await of('standard'))[2], ['webhook-signature', `v1,${mac('d1.1700000000.', 'base64')}`])
  assert.deepEqual(await signedHeaders({ ...given, preset: '', secret: '' }), [])
  assert.deepEqual([...standardKey('whsec_AQID')], [1, 2, 3])
  assert.deepEqual([...standardKey('ab')], [97, 98])
  assert.match(newSecret('standard'), /^whsec_[A-Za-z0-9+/=]{32}$/)
  assert.match(newSecret(''), /^[\w-]{43}$/)
})

test('keeps every byte in curl commands', () => {
  assert.equal(
    curlOf('https://x.org/w', [['A', 'b']], `{"a":"it's"}`),
    `curl -X POST 'https://x.org/w' \\\n  -H 'Content-Type: application/json' \\\n  -H 'A: b' \\\n  --data-binary '{"a":"it'\\''s"}'`,
  )
})

test('sends only changes in an update', () => {
  assert.deepEqual(
    changeOf({ secret: 's', respond: 'wait', same: { a: 1 } }, { same: { a: 1 }, respond: 'accept', breaker: false }),
    { secret: '', respond: 'accept', breaker: false },
  )
  assert.deepEqual(changeOf({ label: 'x' }, { label: undefined }), { label: null })
  assert.deepEqual(compact({ a: '', b: undefined, c: null, d: false }), { d: false })
})
