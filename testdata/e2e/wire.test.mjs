// Sends the same raw requests to the server under test and to a real tRPC 11
// server, and compares the answers: status, content type, allow, and the body
// as data. The permitted differences:
//
//  - blueprintd answers application/json always; the library says text/plain
//    when it refuses a request before it has been split into calls.
//  - The words of validation and JSON syntax errors, and of errors that the
//    application raises, are its own.
//  - A validation error lists data.issues, whose paths are those of the
//    library's own validation.
//  - What `decided` says of a single request.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startOracle } from './support/oracle.mjs';
import { comparable, send } from './support/raw.mjs';
import { groups } from './support/requests.mjs';
import { startServer, stopAll } from './support/server.mjs';

// One server stays empty; requests that create something go to another.
let empty, filled, oracle;
before(async () => {
  oracle = await startOracle();
  empty = await startServer({ flags: ['--rate-limit', '0'] });
  filled = await startServer({ flags: ['--rate-limit', '0'] });
});
after(() => stopAll(oracle, empty, filled));

for (const [group, requests] of Object.entries(groups)) {
  describe(group, () => {
    for (const request of requests) {
      test(request.name, async () => {
        const theirs = comparable(await send(oracle.apiHost, request), request);
        const ours = comparable(await send((request.pick ? filled : empty).apiHost, request), request);
        const expected = decide(theirs, request);
        pickFields(ours, expected, request.pick);
        settleWords(ours.body, expected.body);
        assert.deepEqual(ours, expected);
      });
    }
  });
}

test('the table has the expected number of cases', () => {
  const all = Object.values(groups).flat();
  assert.ok(all.length >= 120, `${all.length} requests`);
  for (const requests of Object.values(groups)) assert.equal(new Set(requests.map(({ name }) => name)).size, requests.length, 'names are unique');
});

/** Converts the response of the real server to the one expected of blueprintd. */
function decide(theirs, { decided }) {
  const expected = { ...theirs };
  if (expected.contentType?.startsWith('text/plain')) expected.contentType = 'application/json';
  if (!decided) return expected;
  const [decision, replaced] = decided;
  const changed = { ...expected, ...replaced };
  assert.notDeepEqual(changed, expected, `"${decision}" needs no exception any more`);
  return changed;
}

// If a response contains ids and times, only the named fields of the payload are compared.
function pickFields(ours, expected, names) {
  if (!names) return;
  for (const answer of [ours, expected]) {
    const payload = answer.body?.result?.data?.json;
    if (payload) answer.body.result.data.json = Object.fromEntries(names.map((name) => [name, payload[name]]));
  }
}

const syntax = /^(Unexpected|Expected|Unterminated|Bad (control|escaped)|Cannot destructure|Unknown transformation|__proto__ is not)/;

/** Compares both bodies; messages that the protocol does not define may differ. */
function settleWords(ours, theirs) {
  if (typeof ours !== 'object' || typeof theirs !== 'object' || !ours || !theirs) return;
  if (typeof theirs.message !== 'string' || typeof theirs.code !== 'number') {
    for (const key of Object.keys(theirs)) settleWords(ours[key], theirs[key]);
    return;
  }
  const issues = issuesOf(theirs.message);
  if (!issues && !theirs.message.startsWith('dummy: ') && !syntax.test(theirs.message)) return;
  assert.equal(typeof ours.message, 'string');
  assert.doesNotMatch(ours.message, /^$|panic|goroutine|\.go:\d/, 'plain words, and nothing of the inside');
  ours.message = theirs.message;
  if (!ours.data?.issues) return assert.ok(!issues, `data.issues is missing; expected ${theirs.message}`);
  assert.equal(ours.data.code, 'BAD_REQUEST');
  if (issues) assertSamePaths(ours.data.issues, issues);
  delete ours.data.issues;
}

// The library's validation errors are a JSON array of issues, in a string.
function issuesOf(message) {
  try {
    const issues = JSON.parse(message);
    return Array.isArray(issues) ? issues : undefined;
  } catch {
    return undefined;
  }
}

function assertSamePaths(ours, theirs) {
  for (const issue of ours) assert.ok(Array.isArray(issue.path) && typeof issue.message === 'string', JSON.stringify(issue));
  // A missing input may be reported by its required fields.
  if (theirs.some(({ path }) => path.length === 0)) return assert.ok(ours.length > 0);
  const paths = (issues) => [...new Set(issues.map(({ path }) => JSON.stringify(path)))].sort();
  assert.deepEqual(paths(ours), paths(theirs), 'the fields that data.issues names');
}
