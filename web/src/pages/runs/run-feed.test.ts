import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patience, pollEvery, RunFeed, type RunSource, tryAgain } from './run-feed'
import type { Run } from './types'

function record(status: Run['status'], progress = 0): Run {
  return {
    id: 'exec_1',
    status,
    progress,
    startTime: null,
    endTime: null,
    totalSteps: 0,
    completedSteps: 0,
    failedSteps: 0,
    steps: [],
    logs: [],
    currentStep: null,
    awaitingInput: null,
  }
}

// A source whose network and clock the test controls.
function stage(answers: (Run | Error)[] = []) {
  const seen = { subscriptions: 0, ended: 0, fetched: 0 }
  let to: Parameters<RunSource['subscribe']>[1] | null = null
  let now = 0
  let timers: { at: number; call: () => void }[] = []
  const source: RunSource = {
    subscribe: (_id, handlers) => {
      seen.subscriptions++
      to = handlers
      return () => {
        seen.ended++
      }
    },
    fetch: () => {
      seen.fetched++
      const answer = answers.shift() ?? new Error('nothing more')
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    after: (milliseconds, call) => {
      const timer = { at: now + milliseconds, call }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    isFinal: (error) => error instanceof Error && error.message === 'final',
  }
  async function pass(milliseconds: number): Promise<void> {
    now += milliseconds
    const due = timers.filter((timer) => timer.at <= now)
    timers = timers.filter((timer) => timer.at > now)
    for (const timer of due) timer.call()
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return { source, seen, pass, to: () => to!, waiting: () => timers.length }
}

test('follows a subscription to the end of the run', async () => {
  const { source, seen, to, waiting } = stage()
  const feed = new RunFeed('exec_1', source)
  feed.start()
  feed.start()
  assert.equal(seen.subscriptions, 1)
  to().onData(record('running', 10))
  assert.deepEqual([feed.state.phase, feed.state.run?.progress], ['live', 10])
  to().onData(record('completed', 100))
  to().onComplete()
  assert.deepEqual([feed.state.phase, seen.ended, waiting()], ['over', 1, 0])
  feed.start()
  assert.equal(seen.subscriptions, 1)
})

test('polls when a subscription breaks, and subscribes again', async () => {
  const { source, seen, to, pass } = stage([record('running', 1), record('running', 2), record('running', 3)])
  const feed = new RunFeed('exec_1', source)
  feed.start()
  to().onError(new Error('broken'))
  await pass(0)
  assert.deepEqual([feed.state.phase, feed.state.run?.progress], ['polling', 1])
  await pass(pollEvery)
  assert.equal(feed.state.run?.progress, 2)
  await pass(tryAgain)
  assert.equal(seen.subscriptions, 2)
  to().onData(record('running', 50))
  assert.equal(feed.state.phase, 'live')
  const fetched = seen.fetched
  await pass(pollEvery * 3)
  assert.equal(seen.fetched, fetched)
})

test('polls when a subscription stays silent', async () => {
  const { source, to, pass } = stage([record('running', 1)])
  const feed = new RunFeed('exec_1', source)
  feed.start()
  await pass(patience)
  assert.equal(feed.state.phase, 'polling')
  to().onData(record('running', 2))
  assert.equal(feed.state.phase, 'live')
})

test('stops asking for a run that is not visible', async () => {
  for (const answer of [record('not_found'), new Error('final')]) {
    const { source, seen, to, pass, waiting } = stage([answer])
    const feed = new RunFeed('exec_1', source)
    feed.start()
    to().onError(new Error('broken'))
    await pass(0)
    assert.deepEqual([feed.state.phase, feed.state.run, waiting()], ['missing', null, 0])
    await pass(tryAgain)
    assert.deepEqual([seen.fetched, seen.subscriptions], [1, 1])
  }
})

test('keeps the known state after an error', async () => {
  const { source, to, pass } = stage([new Error('away'), record('completed')])
  const feed = new RunFeed('exec_1', source)
  feed.start()
  to().onData(record('running', 7))
  to().onError(new Error('broken'))
  await pass(0)
  assert.deepEqual([feed.state.run?.progress, (feed.state.error as Error).message], [7, 'away'])
  await pass(pollEvery)
  assert.deepEqual([feed.state.phase, feed.state.error], ['over', null])
})

test('delivers nothing after stop', () => {
  const { source, to, waiting } = stage()
  const feed = new RunFeed('exec_1', source)
  feed.start()
  feed.stop()
  to().onData(record('running', 7))
  assert.deepEqual([feed.state.run, waiting()], [null, 0])
})

test('keeps the identity of unchanged parts', () => {
  const { source, to } = stage()
  const feed = new RunFeed('exec_1', source)
  let told = 0
  feed.listen(() => told++)
  feed.start()
  to().onData(record('running', 7))
  const { steps } = feed.state.run!
  to().onData(record('running', 8))
  assert.equal(feed.state.run?.steps, steps)
  to().onData(record('running', 8))
  assert.equal(told, 2)
})

test('ignores a late response that is older than the current state', () => {
  const { source, to } = stage()
  const feed = new RunFeed('exec_1', source)
  feed.start()
  to().onData(record('paused', 30))
  to().onData({ ...record('completed', 100), logs: [{}, {}] as Run['logs'] })
  feed.put(record('running', 60))
  assert.deepEqual([feed.state.phase, feed.state.run?.status], ['over', 'completed'])

  const next = new RunFeed('exec_1', source)
  next.start()
  to().onData({ ...record('paused', 60), logs: [{}, {}] as Run['logs'] })
  next.put({ ...record('running', 30), logs: [{}] as Run['logs'] })
  assert.equal(next.state.run?.status, 'paused')
  next.put({ ...record('running', 60), logs: [{}, {}, {}] as Run['logs'] })
  assert.equal(next.state.run?.status, 'running')
})
