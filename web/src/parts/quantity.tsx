import { showBytes, showDuration } from './time-words'
import { quantityText } from '../text/parts'

export { showBytes, showCount, showDuration } from './time-words'

/** A duration in milliseconds, `2.4 s`; a dash without one. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <None />
  return <span title={quantityText.ms(ms.toLocaleString('en'))}>{showDuration(ms)}</span>
}

/** A size in bytes, `1.4 KiB`; a dash without one. */
export function Bytes({ of }: { of: number | null | undefined }) {
  if (of === null || of === undefined) return <None />
  return <span title={quantityText.bytes(of.toLocaleString('en'))}>{showBytes(of)}</span>
}

/** Represents a missing value: a dash, read out as a word. */
export function None({ word = 'none' }: { word?: string }) {
  return (
    <span role="img" aria-label={word}>
      –
    </span>
  )
}
