import type { Outputs } from '../../api/client'

/** The status record of a run. */
export type Run = Outputs['execution']['getExecutionStatus']
/** One step of a run. */
export type Step = Run['steps'][number]
/** The status of a step. */
export type StepStatus = Step['status']
/** One line of a run's log. */
export type LogLine = Run['logs'][number]
/** A request of a paused run. */
export type Awaiting = NonNullable<Run['awaitingInput']>

/** Reports whether a run has ended. */
export function isOver(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'not_found'
}

/** All requests of a paused run; older responses contain only the first. */
export function waitsOf(run: Run): Awaiting[] {
  return run.awaitingInputs?.length ? run.awaitingInputs : run.awaitingInput ? [run.awaitingInput] : []
}

/** The milliseconds of a time from the server, NaN without one. */
export function ms(time: string | null | undefined): number {
  return time ? Date.parse(time) : Number.NaN
}
