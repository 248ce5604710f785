import type { Awaiting, Run } from './types'
import type { Answering } from './use-answer'
import type { RunFacts } from './use-run-facts'

/** The props of each answer form. */
export type AnswerProps = { asked: Awaiting; run: Run; facts: RunFacts; answering: Answering }
