import { api, type Outputs } from '../api/client'
import { show } from '../api/json'
import type { Language } from './completion'
import type { Leaf } from './needs'

/** The value of a text, or its error, as the server computes it. */
export type Evaluated = Outputs['blueprint']['evaluateExpressions']['results'][number]

/** The language of a text; a condition is an expression that must be true or false. */
export type Evaluation = Language | 'condition'

/** The largest data of one request, as JSON. */
const largest = 1 << 20
/** The most texts of one request. */
const most = 20
/** How long the first text waits for others, such as those of a form that opens, in milliseconds. */
const together = 20

type Job = {
  text: string
  language: Evaluation
  leaves: readonly Leaf[]
  signal: AbortSignal
  done: (result: Evaluated | 'too large') => void
  failed: (error: unknown) => void
}

const waiting: Job[] = []
let busy = false

/**
 * Evaluates a text on the server. There is one request at a time for all texts of the page: texts that come meanwhile
 * are in the next one together.
 */
export function evaluate(
  text: string,
  language: Evaluation,
  leaves: readonly Leaf[],
  signal: AbortSignal,
): Promise<Evaluated | 'too large'> {
  return new Promise((done, failed) => {
    waiting.push({ text, language, leaves, signal, done, failed })
    if (!busy) {
      busy = true
      setTimeout(() => void work(), together)
    }
  })
}

async function work(): Promise<void> {
  for (let batch = take(); batch.jobs.length > 0; batch = take()) {
    const { jobs, data } = batch
    try {
      const expressions = jobs.map(({ text, language }) => ({ text, language }))
      const { results } = await api.blueprint.evaluateExpressions.mutate({ expressions, data })
      jobs.forEach((job, at) => job.done(results[at]!))
    } catch (error) {
      jobs.forEach((job) => job.failed(error))
    }
  }
  busy = false
}

// The next texts that agree about their data, with it.
function take(): { jobs: Job[]; data: Record<string, unknown> } {
  const jobs: Job[] = []
  const values = new Map<string, Leaf>()
  let size = 0
  for (const job of waiting.splice(0)) {
    if (job.signal.aborted) continue
    const added = job.leaves.filter((leaf) => !values.has(show(leaf.path, 0)))
    const fits = job.leaves.every((leaf) => {
      const known = values.get(show(leaf.path, 0))
      return !known || Object.is(known.value, leaf.value)
    })
    const more = added.reduce((sum, leaf) => sum + show(leaf.value, 0).length, 0)
    if (more > largest) job.done('too large')
    else if (!fits || jobs.length === most || size + more > largest) waiting.push(job)
    else {
      for (const leaf of added) values.set(show(leaf.path, 0), leaf)
      size += more
      jobs.push(job)
    }
  }
  return { jobs, data: nest([...values.values()]) }
}

function nest(leaves: readonly Leaf[]): Record<string, unknown> {
  // Without a prototype, because the keys are those of any blueprint.
  const empty = () => Object.create(null) as Record<string, unknown>
  const data = empty()
  for (const { path, value } of leaves) {
    let at = data
    for (const step of path.slice(0, -1)) at = (at[step] ??= empty()) as Record<string, unknown>
    at[path.at(-1)!] = value
  }
  return data
}
