/** Two runs compared step by step. */
import { fieldChanges, type FieldChange } from '../../diff/diff'
import { nameOf } from './step-rows'
import type { Run, Step } from './types'

/** A step of two runs; one of them may not have it. */
export type StepPair = {
  address: string
  title: string
  nodeType: string
  before?: Step
  after?: Step
  /** What differs: input, output and error. Times are not compared. */
  fields: FieldChange[]
  differs: boolean
}

/** The steps of two runs, paired by their address, in the order of the later run; steps that only the earlier one has are last. */
export function pairSteps(before: Pick<Run, 'steps'>, after: Pick<Run, 'steps'>): StepPair[] {
  const earlier = new Map(before.steps.map((step) => [step.nodeId, step]))
  const pairs = after.steps.map((step) => pairOf(earlier.get(step.nodeId), step))
  const known = new Set(after.steps.map((step) => step.nodeId))
  return [...pairs, ...before.steps.filter((step) => !known.has(step.nodeId)).map((step) => pairOf(step, undefined))]
}

function pairOf(before: Step | undefined, after: Step | undefined): StepPair {
  const step = (after ?? before)!
  const fields = (['input', 'output', 'error'] as const).flatMap((name) =>
    fieldChanges(compared(before, name), compared(after, name), [name]),
  )
  return {
    address: step.nodeId,
    title: nameOf(step),
    nodeType: step.nodeType,
    before,
    after,
    fields,
    differs: fields.length > 0 || before?.status !== after?.status,
  }
}

// A step that has not begun has no input, one that has not completed no output; the request of a failure differs with
// each attempt.
function compared(step: Step | undefined, name: 'input' | 'output' | 'error'): unknown {
  if (!step || step.startTime === null) return undefined
  if (name === 'input') return step.input
  if (name === 'output') return step.status === 'completed' ? step.output : (step.output ?? undefined)
  if (!step.error) return undefined
  const { message, code } = step.error
  return code === undefined ? { message } : { code, message }
}
