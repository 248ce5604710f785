import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../api/json'
import { bodyOf, curlOf, type Exchange, isOf, outcomeOf, targetOf } from './traffic-words'

const at = '2026-11-22T10:00:00Z'
const call = (request: Partial<Exchange['request']>, more: Partial<Exchange> = {}): Exchange => ({
  at,
  nodeId: 'ask',
  request: { method: 'POST', url: 'https://api.example.com/v1/x?key=***', ...request },
  ...more,
})
const mail = call({
  method: 'MAIL',
  url: 'smtp://mail.example.com:587',
  headers: { from: 'a@x.org', to: 'b@x.org, c@x.org', subject: 'Hello' },
  body: 'Dear B',
})

test('names the target', () => {
  for (const [exchange, want] of [
    [call({}), 'api.example.com/v1/x?key=***'],
    [call({ url: 'http://127.0.0.1:80' }), '127.0.0.1:80'],
    [mail, 'to b@x.org, c@x.org: Hello'],
    [call({ method: 'MAIL', headers: {} }), 'no recipient'],
  ] as const)
    assert.equal(targetOf(exchange), want)
})

test('names the outcome', () => {
  for (const [more, text, failed] of [
    [{ response: { status: 200 } }, '200', false],
    [{ response: { status: 404 } }, '404', true],
    [{ response: { status: 302 } }, '302', false],
    [{ response: { status: 200 }, error: 'cut off' }, '200', true],
    [{ error: 'refused' }, 'No response', true],
    [{}, 'No response yet', false],
  ] as const)
    assert.deepEqual(outcomeOf(call({}, more)), { text, failed })
})

test('shows bodies', () => {
  assert.deepEqual(bodyOf(undefined), { kind: 'none' })
  assert.deepEqual(bodyOf(''), { kind: 'none' })
  assert.deepEqual(bodyOf('a'), { kind: 'text', text: 'a' })
  assert.deepEqual(bodyOf({ $base64: 'aGVsbG8=' }), { kind: 'bytes', base64: 'aGVsbG8=', size: 5 })
  assert.deepEqual(bodyOf({ $base64: 'aGVsbG8=', more: 1 }).kind, 'value')
  assert.deepEqual(bodyOf(false), { kind: 'value', value: false })
})

test('filters by a step and the steps inside it', () => {
  for (const [node, address, want] of [
    ['each', 'each', true],
    ['each[3]/ask', 'each', true],
    ['each[3]/ask', 'each[3]', true],
    ['each[31]/ask', 'each[3]', false],
    ['eachother', 'each', false],
  ] as const) {
    assert.equal(isOf(call({}, { nodeId: node }), address), want, `${node} of ${address}`)
  }
})

test('copies as curl', () => {
  assert.equal(curlOf(mail), undefined)
  assert.equal(
    curlOf(
      call({ method: 'GET', url: 'https://x.org/a?b=c&d', headers: { 'content-length': '2', authorization: '***' } }),
    ),
    "curl -X GET 'https://x.org/a?b=c&d' \\\n  -H 'authorization: ***'",
  )
  assert.equal(
    curlOf(call({ url: 'https://x.org', body: parseJson('{"n":12,"o":"it\'s"}') })),
    'curl -X POST https://x.org \\\n  --data-raw \'{"n":12,"o":"it\'\\\'\'s"}\'',
  )
  assert.equal(
    curlOf(call({ url: 'https://x.org', body: { $base64: 'AAE=' } })),
    "base64 -d <<< 'AAE=' | curl -X POST https://x.org \\\n  --data-binary @-",
  )
  assert.equal(
    curlOf(call({ method: "X'; rm -rf /", url: 'https://x.org' })),
    "curl -X 'X'\\''; rm -rf /' https://x.org",
  )
})
