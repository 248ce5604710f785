// Compares the ai-prompt node with the official libraries of the providers: the requests are
// the same, the types of the libraries know every field, and both read the same responses and
// errors. For Anthropic there are two libraries: the last one for the API version that the node
// uses, 2023-06-01, which other servers understand too, and the current one.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import AnthropicNow from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import Anthropic from 'anthropic-2023';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { connect } from './support/clients.mjs';
import { node } from './support/maps.mjs';
import { startModels } from './support/models.mjs';
import { ended, reached } from './support/poll.mjs';
import { startServer, stopAll } from './support/server.mjs';
import { startTools } from './support/tools.mjs';
import { assertTypes } from './support/types.mjs';

const key = 'sk-e2e-0123456789abcdef';
const Letter = z.object({ topic: z.string(), urgent: z.boolean(), words: z.array(z.string()) });

let server, models, tools, client, providers, toolsId;
before(async () => {
  models = await startModels();
  tools = await startTools();
  server = await startServer({ flags: ['--rate-limit', '0', '--allow-net', '127.0.0.1/32'] });
  client = connect(server.baseUrl, server.key);
  const open = async (provider, baseUrl) => {
    const { id } = await client.connection.create.mutate({ name: provider, type: 'ai-provider', config: { provider, baseUrl, apiKey: key } });
    return id;
  };
  // The baseUrl has the form that the provider's library expects.
  providers = {
    openai: { baseUrl: `${models.url}/v1`, path: '/v1/chat/completions' },
    anthropic: { baseUrl: models.url, path: '/v1/messages' },
  };
  for (const [name, provider] of Object.entries(providers)) provider.connectionId = await open(name, provider.baseUrl);
  ({ id: toolsId } = await client.connection.create.mutate({ name: 'tools', type: 'mcp-server', config: { url: tools.url } }));
});
beforeEach(() => { models.says.length = 0; models.calls.length = 0; tools.cities.length = 0; });
after(() => stopAll(server, models, tools));

/** Runs one prompt and returns the response of blueprint.execute. */
async function prompt(provider, config) {
  const blueprint = await client.blueprint.create.mutate({
    title: 'A prompt', blueprint_map: { nodes: [node('ask', 'ai-prompt', { connectionId: providers[provider].connectionId, model: 'model-1', ...config })] },
  });
  return client.blueprint.execute.mutate({ id: blueprint.id });
}

const libraries = {
  openai: () => new OpenAI({ apiKey: key, baseURL: providers.openai.baseUrl, maxRetries: 0 }),
  anthropic: () => new Anthropic({ apiKey: key, baseURL: providers.anthropic.baseUrl, maxRetries: 0 }),
  anthropicNow: () => new AnthropicNow({ apiKey: key, baseURL: providers.anthropic.baseUrl, maxRetries: 0 }),
};
const sends = {
  openai: (body) => libraries.openai().chat.completions.create(body),
  anthropic: (body) => libraries.anthropic().messages.create(body),
};
const typed = {
  openai: ["import OpenAI from 'openai';", 'OpenAI.ChatCompletionCreateParamsNonStreaming'],
  anthropic: ["import Anthropic from 'anthropic-2023';", 'Anthropic.MessageCreateParamsNonStreaming'],
};

/** The headers that a provider reads. */
const meaning = ({ headers }) => Object.fromEntries(
  ['authorization', 'x-api-key', 'anthropic-version', 'content-type', 'accept'].map((name) => [name, headers[name]]),
);

/** Expects that the library sends what the node sent, by its types and on the wire. */
async function sentAlike(provider, call, answer = 'x') {
  const body = JSON.parse(call.text);
  const [imports, type] = typed[provider];
  assertTypes(imports, [[type, body]]);
  models.says.push(answer);
  const got = await sends[provider](body);
  const theirs = models.calls.at(-1);
  assert.deepEqual([theirs.method, theirs.path, JSON.parse(theirs.text)], [call.method, call.path, body]);
  assert.equal(call.path, providers[provider].path);
  assert.deepEqual(meaning(call), meaning(theirs));
  if (provider === 'anthropic') {
    delete body.temperature; // which newer versions lack
    assertTypes("import Anthropic from '@anthropic-ai/sdk';", [[type, body]]);
    models.says.push(answer);
    assert.deepEqual(await libraries.anthropicNow().messages.create(body), got);
    assert.deepEqual(JSON.parse(models.calls.at(-1).text), body);
  }
  return got;
}

for (const provider of ['openai', 'anthropic']) {
  describe(provider, () => {
    test('sends a prompt and returns the answer', async () => {
      models.says.push('Hello, Ann.');
      const ran = await prompt(provider, { prompt: 'Greet Ann.', system: 'Be brief.', maxTokens: 50, temperature: 0.5 });
      assert.deepEqual([ran.success, ran.result.output], [true, { text: 'Hello, Ann.', usage: { inputTokens: 40, outputTokens: 7 } }], JSON.stringify(ran));
      assert.equal(models.calls.length, 1);
      const theirs = await sentAlike(provider, models.calls[0], 'Hello, Ann.');
      const text = provider === 'openai' ? theirs.choices[0].message.content : theirs.content.at(-1).text;
      assert.equal(text, ran.result.output.text);
    });

    test('sends a minimal prompt', async () => {
      models.says.push('Yes.');
      const ran = await prompt(provider, { userPrompt: 'Yes?' });
      assert.equal(ran.success, true, JSON.stringify(ran));
      await sentAlike(provider, models.calls[0]);
    });

    test('returns a structured answer', async () => {
      const value = { topic: 'rent', urgent: true, words: ['a'] };
      const { $schema, ...responseSchema } = z.toJSONSchema(Letter);
      models.says.push(JSON.stringify(value));
      const ran = await prompt(provider, { prompt: 'What is it about?', responseSchema });
      assert.deepEqual([ran.success, ran.result.output?.json], [true, value], JSON.stringify(ran));
      await sentAlike(provider, models.calls[0]);
      // The library's conversion of a schema to a request has the same result.
      const body = JSON.parse(models.calls[0].text);
      if (provider === 'openai') {
        const theirs = JSON.parse(JSON.stringify(zodResponseFormat(Letter, 'answer')));
        delete theirs.json_schema.schema.$schema;
        assert.deepEqual(body.response_format, theirs);
      } else {
        assert.deepEqual(body.output_config.format, JSON.parse(JSON.stringify({ type: 'json_schema', schema: zodOutputFormat(Letter).schema })));
      }
    });

    test('asks once more when an answer violates its schema', async () => {
      const { $schema, ...responseSchema } = z.toJSONSchema(Letter);
      models.says.push('{"topic":"rent"}', '{"topic":"rent","urgent":false,"words":[]}');
      const ran = await prompt(provider, { prompt: 'What is it about?', responseSchema });
      assert.deepEqual(ran.result.output?.usage, { inputTokens: 80, outputTokens: 14 }, JSON.stringify(ran));
      assert.match(models.calls[1].text, /urgent: required/);
      await sentAlike(provider, models.calls[1]);
      models.says.push('never', 'never');
      const failed = await prompt(provider, { prompt: 'What is it about?', responseSchema });
      assert.deepEqual([failed.success, failed.result.error?.code], [false, 'schema_mismatch']);
    });

    test('reports a call of an unknown tool to the model', async () => {
      models.says.push({ text: 'Let me see.', calls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Ulm' } }] }, 'I cannot tell.');
      const ran = await prompt(provider, { prompt: 'Weather?' });
      assert.deepEqual([ran.result.output?.text, ran.result.output?.steps, ran.result.output?.toolCalls], ['I cannot tell.', 2, 1], JSON.stringify(ran));
      await sentAlike(provider, models.calls[1]);
    });

    test('pauses when the budget is used up, and calls no tool twice', async () => {
      const nodes = [node('ask', 'ai-prompt', { connectionId: providers[provider].connectionId, model: 'model-1', prompt: 'Weather?', mcpConnectionIds: [toolsId] })];
      const blueprint = await client.blueprint.create.mutate({ title: 'Weather', budget: { calls: 1, onBreach: 'pause' }, blueprint_map: { nodes } });
      models.says.push({ calls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Ulm' } }] }, 'Take an umbrella.');
      const { executionId: id } = await client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: blueprint.id } });
      const paused = await reached(client, id, 'paused');
      assert.deepEqual([paused.awaitingInput.nodeId, paused.awaitingInput.kind, models.calls.length, tools.cities], ['ask', 'budget', 1, ['Ulm']]);
      await client.execution.resume.mutate({ executionId: id, input: { calls: 1 } });
      const status = await ended(client, id);
      assert.deepEqual(
        [status.status, status.steps[0].output, models.calls.length, tools.cities],
        ['completed', { text: 'Take an umbrella.', steps: 2, toolCalls: 1, usage: { inputTokens: 80, outputTokens: 14 } }, 2, ['Ulm']],
      );
      assert.match(models.calls[1].text, /It rains in Ulm/);
      await sentAlike(provider, models.calls[1]);
      const { logs: [record] } = await client.execution.getExecutionLogs.query({ blueprintId: blueprint.id });
      assert.deepEqual([record.totalTokensUsed, record.mcpServerNames, status.steps[0].tokensUsed], [94, ['Weather station'], 94]);
    });

    for (const [status, type, code, kind] of [
      [400, 'invalid_request_error', 'invalid_request', 'BadRequestError'], [401, 'authentication_error', 'unauthorized', 'AuthenticationError'],
      [404, 'not_found_error', 'invalid_request', 'NotFoundError'], [429, 'rate_limit_error', 'rate_limited', 'RateLimitError'], [500, 'api_error', 'provider_error', 'InternalServerError'],
    ]) {
      test(`handles an error response with status ${status}`, async () => {
        const refusal = { status, error: { type, message: `Not with ${key}`, param: null, code: null } };
        models.says.push(refusal);
        const ran = await prompt(provider, { prompt: 'Hi' });
        assert.deepEqual([ran.success, ran.result.error?.code], [false, code], JSON.stringify(ran));
        assert.ok(!JSON.stringify(ran).includes(key), 'the key is never shown');
        const library = provider === 'openai' ? OpenAI : Anthropic;
        models.says.push(refusal);
        await assert.rejects(sends[provider](JSON.parse(models.calls[0].text)), library[kind]);
      });
    }
  });
}

test('counts tokens and providers in the record', async () => {
  models.says.push('Hello.');
  const blueprint = await client.blueprint.create.mutate({
    title: 'Counted', blueprint_map: { nodes: [node('ask', 'ai-prompt', { connectionId: providers.openai.connectionId, model: 'model-1', prompt: 'Hi' })] },
  });
  await client.blueprint.execute.mutate({ id: blueprint.id });
  const { logs: [record] } = await client.execution.getExecutionLogs.query({ blueprintId: blueprint.id });
  assert.deepEqual(
    [record.totalTokensUsed, record.aiProvidersUsedCount, record.primaryAiProviderConnectionId, record.externalDataSourcesCount],
    [47, 1, providers.openai.connectionId, 0],
  );
});
