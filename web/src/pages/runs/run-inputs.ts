/** Inputs of earlier runs of a blueprint, to be offered again. */
import type { Outputs } from '../../api/client'
import { show } from '../../api/json'
import { ms } from './types'

type LogRecord = Outputs['execution']['getExecutionLogs']['logs'][number]

/** An input of an earlier run. */
export type EarlierInput = { executionId: string; at: string | null; text: string }

/** The distinct inputs of some runs, newest first. The first step of a run has the run's input as its own. */
export function earlierInputs(logs: LogRecord[], most = 5): EarlierInput[] {
  const found = new Map<string, EarlierInput>()
  for (const log of logs) {
    const first = log.executionData.steps
      .filter((step) => step.startTime !== null && !step.nodeId.includes(']/'))
      .reduce<LogRecord['executionData']['steps'][number] | null>(
        (least, step) => (least && ms(least.startTime) <= ms(step.startTime) ? least : step),
        null,
      )
    if (!first || first.input === null || first.input === undefined || log.executionMetadata.retryOf) continue
    const text = show(first.input)
    if (text !== '{}' && !found.has(text))
      found.set(text, { executionId: log.executionData.executionId, at: log.startTime, text })
  }
  return [...found.values()].slice(0, most)
}

/** A JSON text shortened to one line. */
export function shortened(text: string, most = 60): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
