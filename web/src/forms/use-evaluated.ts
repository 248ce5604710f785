import { useEffect, useMemo, useRef, useState } from 'react'
import { type Evaluated, evaluate, type Evaluation } from './evaluate'
import type { Names } from './names'
import { type Needs, needsOf, sameNeeds } from './needs'

// After the last key.
const delay = 350

/** What is known about the value of a text. `stale`: it is that of the text before the last change. */
export type Outcome = {
  missing?: string
  secret?: string
  result?: Evaluated | 'too large'
  text: string
  stale: boolean
}

/**
 * The value of a text with an expression over the values of a run, a moment after each change; undefined for any other
 * text, and as long as there is none.
 */
export function useEvaluated(text: string, evaluation: Evaluation, names: Names | undefined): Outcome | undefined {
  const language = evaluation === 'condition' ? 'expression' : evaluation
  const found = useMemo(() => (names ? needsOf(text, language, names) : undefined), [text, language, names])
  // Each change of the map makes new names; what counts is whether a value is another one.
  const [needs, setNeeds] = useState<Needs | undefined>(found)
  if (needs !== found && !sameNeeds(needs, found)) setNeeds(found)
  const [known, setKnown] = useState<{ text: string; needs: Needs; result: Evaluated | 'too large' }>()
  const asked = useRef(false)
  useEffect(() => {
    if (!needs || needs.missing !== undefined || needs.secret !== undefined) return
    const abort = new AbortController()
    const timer = setTimeout(
      () => {
        asked.current = true
        evaluate(text, evaluation, needs.leaves, abort.signal).then(
          (result) => {
            if (!abort.signal.aborted) setKnown({ text, needs, result })
          },
          () => {
            if (!abort.signal.aborted) setKnown(undefined) // the page says by itself that the server is away
          },
        )
      },
      asked.current ? delay : 0,
    )
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, evaluation, needs])
  if (!needs) return undefined
  const { missing, secret } = needs
  if (missing !== undefined || secret !== undefined) return { missing, secret, text, stale: false }
  return known && { result: known.result, text: known.text, stale: known.text !== text || known.needs !== needs }
}
