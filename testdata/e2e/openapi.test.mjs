// The OpenAPI document, used without a tRPC client: a public validator accepts it, and a client
// that knows only the document creates a blueprint, runs it, and reads the result.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { startServer } from './support/server.mjs';

let server;
let document;
before(async () => {
  server = await startServer();
  document = await (await fetch(`${server.apiHost}/openapi.json`)).json();
});
after(() => server?.stop());

/** Calls an operation by its ID, with its example or another body, and checks the response. */
async function call(operationId, { json, key = server.key } = {}) {
  const [path, method, operation] = Object.entries(document.paths)
    .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => [path, method, operation]))
    .find(([, , operation]) => operation.operationId === operationId);
  const url = new URL(path, new URL(document.servers[0].url, `${server.apiHost}/openapi.json`));
  const options = { method: method.toUpperCase(), headers: { authorization: `Bearer ${key}` } };
  if (operation.requestBody) {
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(json ? { json } : operation.requestBody.content['application/json'].example);
  } else if (operation.parameters?.[0].content) {
    url.searchParams.set('input', JSON.stringify(json ? { json } : operation.parameters[0].content['application/json'].example));
  }
  const answer = await fetch(url, options);
  const body = await answer.json();
  const described = operation.responses[answer.status];
  const response = described.$ref ? document.components.responses[described.$ref.split('/').at(-1)] : described;
  const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  const check = ajv.compile({ ...response.content['application/json'].schema, components: document.components });
  assert.ok(check(body), `${operationId}: ${JSON.stringify(check.errors)}\n${JSON.stringify(body)}`);
  return { status: answer.status, body, payload: body.result?.data.json };
}

describe('openapi.json', () => {
  test('is valid OpenAPI 3.1 for a public validator', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
  });

  test('suffices to create and run a blueprint', async () => {
    const made = await call('blueprint.create');
    assert.equal(made.status, 200);
    const ran = await call('blueprint.execute', { json: { id: made.payload.id, variables: { name: 'Ada' } } });
    assert.deepEqual(ran.payload.result.output, { text: 'Hello Ada' });
    const record = await call('execution.getExecutionStatus', { json: { executionId: ran.payload.executionId } });
    assert.equal(record.payload.status, 'completed');
    assert.equal((await call('blueprint.list')).payload.data[0].title, 'Hello');
    assert.equal((await call('getReadiness')).body.status, 'ready');
  });

  test('describes error responses', async () => {
    assert.equal((await call('blueprint.list', { key: 'nobody' })).status, 401);
    assert.equal((await call('blueprint.get')).status, 404); // the id in the example does not exist
    assert.equal((await call('blueprint.create', { json: { title: 1 } })).status, 400);
  });
});

describe('schemas', () => {
  test('all compile, and a blueprint of the server matches its schema', async () => {
    for (const file of document.paths['/schemas/{file}'].parameters[0].schema.enum) {
      const answer = await fetch(`${server.apiHost}/schemas/${file}`);
      assert.equal(answer.headers.get('content-type'), 'application/schema+json');
      const check = addFormats(new Ajv2020({ strict: false })).compile(await answer.json());
      if (file === 'blueprint.json') {
        assert.ok(check({ title: 'x', blueprint_map: { nodes: [{ id: 'a', type: 'log', title: 'A', config: { message: '{{input}}' } }] } }), JSON.stringify(check.errors));
        assert.ok(!check({ title: 'x', blueprint_map: { nodes: [{ id: 'a', type: 'teleport', title: 'A', config: {} }] } }));
      }
    }
  });
});
