import type { Outputs } from '../../api/client'

/** The status record of a run. */
export type Run = Outputs['execution']['getExecutionStatus']
/** One step of a run. */
export type Step = Run['steps'][number]
/** What a step is at. */
export type StepStatus = Step['status']
/** One line of a run's log. */
export type LogLine = Run['logs'][number]
/** What a paused run waits for. */
export type Awaiting = NonNullable<Run['awaitingInput']>

/** Whether nothing more will happen to a run. */
export function isOver(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'not_found'
}

/** Everything that a run waits for; older answers name only the first. */
export function waitsOf(run: Run): Awaiting[] {
  return run.awaitingInputs?.length ? run.awaitingInputs : run.awaitingInput ? [run.awaitingInput] : []
}

/** Milliseconds of a time of the server, NaN without one. */
export function ms(time: string | null | undefined): number {
  return time ? Date.parse(time) : Number.NaN
}
