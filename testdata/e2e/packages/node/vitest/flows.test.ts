import { expect, describe } from 'vitest'
import { connectBlueprintd, isRefusal } from 'blueprintd'
import { test, useBlueprintd } from 'blueprintd/vitest'
import { patiently, runFlow } from '../flows.js'

const greet = { id: 'greet', type: 'template', title: 'Greet', config: { text: 'Hello!' } }

describe('one server for the test file', () => {
  const blueprintd = useBlueprintd({ clock: '2030-01-01T00:00:00Z' })

  test('runs a blueprint', async () => {
    const result = await runFlow(blueprintd.client, 'Greeting', [greet])
    expect(result.status).toBe('completed')
    expect(result.steps[0]?.output).toEqual({ text: 'Hello!' })
  })

  test('advances the clock', async () => {
    const nap = { id: 'nap', type: 'wait', title: 'Nap', config: { durationMs: 3_600_000 } }
    const { id } = await blueprintd.client.blueprint.create.mutate({ title: 'Nap', status: 'published', blueprint_map: { nodes: [nap] } })
    await blueprintd.client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType: 'scheduled', config: { cron: '0 9 * * *' } })
    expect(await blueprintd.advance('9h')).toMatchObject({ now: '2030-01-01T09:00:00.000Z', fired: 1 })
    const { runs } = await blueprintd.client.execution.listRuns.query({ blueprintId: id })
    await blueprintd.advance(3_600_000)
    expect((await blueprintd.wait(runs[0]!.executionId)).status).toBe('completed')
  })

  test('uploads a file and delivers a webhook', async () => {
    const { triggerIds } = await blueprintd.createFile(process.env['HELLO']!)
    const answer = await blueprintd.webhook(triggerIds[0]!, { name: 'Ada', language: 'de' })
    expect(answer).toMatchObject({ status: 200, body: { message: 'Guten Tag, Ada!' } })
  })

  test('subscribes to a run', async () => {
    const nodes = [{ id: 'ask', type: 'human', title: 'Ask', config: { prompt: 'Well?' } }]
    const { id } = await blueprintd.client.blueprint.create.mutate({ title: 'Ask', blueprint_map: { nodes } })
    const { executionId } = await blueprintd.client.execution.executeBlueprintWithLogging.mutate({ nodes, options: { blueprintId: id } })
    const seen = await new Promise<string>((resolve, reject) => {
      const heard = blueprintd.client.execution.subscribe.subscribe({ executionId }, {
        onData: ({ status }) => {
          if (status === 'paused') void blueprintd.client.execution.resume.mutate({ executionId, input: { fine: true } }).catch(reject)
          if (status === 'completed') resolve(status)
        },
        onError: reject,
        onComplete: () => heard.unsubscribe(),
      })
    })
    expect(seen).toBe('completed')
  })

  test('returns typed errors', async () => {
    const error: unknown = await blueprintd.client.blueprint.get.query({ id: '3fa85f64-5717-4562-b3fc-2c963f66afa6' }).catch((reason: unknown) => reason)
    if (!isRefusal(error)) throw error
    expect(error.data).toMatchObject({ code: 'NOT_FOUND', httpStatus: 404, path: 'blueprint.get' })
  })
})

test('a server per test', async ({ blueprintd }) => {
  expect((await blueprintd.client.blueprint.list.query()).pagination.total).toBe(0)
})

describe('sandbox', () => {
  const blueprintd = useBlueprintd({ sandbox: true, per: 'test' })

  test('a retry succeeds after Retry-After', async () => {
    await blueprintd.rules([{ match: { procedure: 'execution.executeBlueprintWithLogging' }, times: 2, answer: { status: 429 } }])
    const ask = { id: 'ask', type: 'http-request', title: 'Ask', config: { method: 'GET', url: 'https://api.example.org/weather' } }
    expect((await runFlow(blueprintd.client, 'Weather', [ask])).status).toBe('completed')
    expect((await blueprintd.calls()).map(({ request }) => request.url)).toEqual(['https://api.example.org/weather'])
    await blueprintd.reset()
    expect(await blueprintd.calls()).toEqual([])
  })

  test('a client stops retrying', async () => {
    await blueprintd.rules([{ match: { procedure: 'blueprint.create' }, answer: { status: 503 } }])
    const error: unknown = await patiently(() => blueprintd.client.blueprint.create.mutate({ title: 'x' }), 1, 3).catch((reason: unknown) => reason)
    expect(isRefusal(error) && error.data?.httpStatus).toBe(503)
  })
  test('expectations are verified', async () => {
    await blueprintd.expect([{ match: { nodeType: 'http-request' }, times: 1, request: { method: 'GET' } }])
    expect(await blueprintd.verify()).toMatchObject({ met: false, unmet: [{ came: 0 }] })
    const ask = { id: 'ask', type: 'http-request', title: 'Ask', config: { method: 'GET', url: 'https://api.example.org/weather' } }
    await runFlow(blueprintd.client, 'Weather', [ask])
    expect((await blueprintd.verify()).met).toBe(true)
    expect(await blueprintd.calls({ host: 'other.example.org' })).toEqual([])
  })

  test('another process uses the server', async () => {
    const other = connectBlueprintd({ url: blueprintd.apiHost, apiKey: blueprintd.apiKey })
    expect(await other.now()).toMatchObject({ now: '2000-01-01T00:00:00.000Z' })
    expect((await other.client.blueprint.list.query()).pagination.total).toBe(0)
  })
})
