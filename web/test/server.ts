import { vi } from 'vitest'
import { nodeTypes } from './node-types'

type Answers = Record<string, (input: never) => unknown>
/** One call that the page made. */
export type Call = { path: string; input: unknown }

/** What an answer throws so that the page gets the error that the server sends. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly issues: { path: (string | number)[]; message: string }[] = [],
  ) {
    super(message)
  }
}

/** Answers the calls of the page as the server does, each procedure by a function; the list of calls grows with them. */
export function serve(answers: Answers): Call[] {
  const calls: Call[] = []
  const all: Answers = { 'node.types': () => nodeTypes, ...answers }
  vi.stubGlobal('fetch', async (address: string, init?: RequestInit) => {
    const url = new URL(address, 'http://localhost')
    const text = init?.method === 'POST' ? String(init.body) : (url.searchParams.get('input') ?? '{}')
    const inputs = JSON.parse(text) as Record<string, { json?: unknown } | undefined>
    const paths = url.pathname.split('/').at(-1)!.split(',')
    const results = paths.map((path, index) => {
      const input = inputs[String(index)]?.json
      calls.push({ path, input })
      const answer = all[path]
      if (!answer) throw new Error(`the test has no answer to ${path}`)
      try {
        return { result: { data: { json: answer(input as never) } } }
      } catch (failure) {
        if (!(failure instanceof Refusal)) throw failure
        const { code, message, issues } = failure
        return { error: { json: { message, code: -32600, data: { code, httpStatus: 400, path, issues } } } }
      }
    })
    return Response.json(results)
  })
  return calls
}

/** The inputs of the calls of one procedure. */
export const inputsOf = (calls: Call[], path: string) =>
  calls.filter((call) => call.path === path).map(({ input }) => input)
