import { showDuration } from '../../parts/time-words'
import { lookOf } from './status-look'
import type { Row } from './step-rows'
import { isReused, type Span } from './time-scale'
import type { Awaiting } from './types'
import { rowWordsText } from '../../text/runs'

/** A row of the timeline in words: `failed after 1.2 s, began at 3.4 s, 3 attempts, timeout`. */
export function describeRow(row: Row, whole: Span, asked?: Awaiting): string {
  if (isReused(row, whole)) return rowWordsText.keptFromTheEarlierRun(lookOf(row.status).word)
  const length = row.step?.durationMs ?? (Number.isFinite(row.end) ? row.end : whole.to) - row.start
  const words = [lookOf(row.status).word]
  if (Number.isFinite(row.start)) {
    const active = row.status === 'running' || row.status === 'paused'
    words[0] = (active ? rowWordsText.activeFor : rowWordsText.endedAfter)(words[0]!, showDuration(length))
    words.push(rowWordsText.startedAt(showDuration(row.start - whole.from)))
  }
  if (row.step && row.step.attempt > 1) words.push(rowWordsText.attempts(row.step.attempt))
  if (row.counts) {
    const counts = Object.entries(row.counts).map(([status, count]) => `${count} ${lookOf(status).word}`)
    words.push(rowWordsText.items(counts.join(', ')))
  }
  if (asked) words.push(rowWordsText.prompt(asked.prompt))
  if (row.step?.error) words.push(row.step.error.message)
  return words.join(', ')
}
