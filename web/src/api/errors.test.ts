import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AWAY, describeError, isAborted, isSignedOut, issueFor, showPath } from './errors'

// The parts of a client error that are used.
function thrown(message: string, data?: object, meta?: object): Error {
  return Object.assign(new Error(message), {
    name: 'TRPCClientError',
    data,
    shape: data && { message, code: -32600, data },
    meta,
  })
}
const answer = (status: number, headers: Record<string, string> = {}) => ({
  response: { status, headers: new Headers(headers) },
})

test('shows the message of an error response', () => {
  const issues = [{ path: ['tags', 1], message: 'must be a string' }]
  const told = describeError(thrown('tags[1]: must be a string', { code: 'BAD_REQUEST', httpStatus: 400, issues }))
  assert.deepEqual(
    { message: told.message, code: told.code, status: told.status, issues: told.issues, retryable: told.retryable },
    { message: 'tags[1]: must be a string', code: 'BAD_REQUEST', status: 400, issues, retryable: false },
  )
})

test('finds the field of an issue by its path', () => {
  const error = thrown('title: required', {
    code: 'BAD_REQUEST',
    issues: [{ path: ['title'], message: 'required' }, { path: 'no list' }],
  })
  assert.equal(issueFor(error, 'title'), 'required')
  assert.equal(issueFor(error, 'tags'), undefined)
  assert.equal(showPath(['nodes', 0, 'config', 'url']), 'nodes[0].config.url')
})

test('starts a message with a capital letter unless it starts with a name', () => {
  const cases = [
    ['the last owner stays', 'The last owner stays'],
    ['title: required', 'title: required'],
    ['nodes[0].id is taken', 'nodes[0].id is taken'],
    ['blueprint_map is missing', 'blueprint_map is missing'],
    ['Fine', 'Fine'],
    ['', 'The server refused the request without a reason.'],
  ]
  for (const [given, wanted] of cases) assert.equal(describeError(thrown(given!, { code: 'CONFLICT' })).message, wanted)
})

test('shows when to retry a busy server', () => {
  const told = describeError(
    thrown('too many requests', { code: 'TOO_MANY_REQUESTS', httpStatus: 429 }, answer(429, { 'Retry-After': '1' })),
  )
  assert.equal(told.retryAfter, 1)
  assert.equal(told.hint, 'Try again in 1 second.')
  assert.equal(told.retryable, true)
})

test('treats a missing response as an unreachable server', () => {
  for (const error of [
    thrown('Failed to fetch'),
    new TypeError('Failed to fetch'),
    thrown('Unexpected token <', undefined, answer(502)),
  ]) {
    const told = describeError(error)
    assert.equal(told.code, AWAY)
    assert.match(told.message, /^The server cannot be reached/)
    assert.ok(told.hint && told.retryable)
  }
})

test('does not treat a bug of the page as an unreachable server', () => {
  for (const error of [new TypeError('x is not a function'), 'text', null, undefined, { message: 7 }]) {
    assert.equal(describeError(error).code, 'UNKNOWN')
    assert.ok(describeError(error).message)
  }
})

test('distinguishes signed out from cancelled', () => {
  assert.equal(isSignedOut(thrown('sign in', { code: 'UNAUTHORIZED', httpStatus: 401 })), true)
  assert.equal(isSignedOut(thrown('no', { code: 'FORBIDDEN', httpStatus: 403 })), false)
  assert.equal(isAborted(Object.assign(new Error('x'), { cause: new DOMException('gone', 'AbortError') })), true)
})

test('hints at a manager only where a resource is concerned', () => {
  const hint = (path?: string) =>
    describeError(thrown('no', { code: 'FORBIDDEN', httpStatus: 403, ...(path && { path }) })).hint
  assert.match(hint('blueprint.update') ?? '', /manager/)
  assert.equal(hint(), undefined)
})
