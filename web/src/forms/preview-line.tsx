import { type ReactNode, useMemo } from 'react'
import { previewText } from '../text/forms'
import type { Language } from './completion'
import type { Names } from './names'
import { showEvaluated } from './needs'
import { previewOf } from './preview'
import classes from './text-box.module.css'
import { type Outcome, useEvaluated } from './use-evaluated'

type Props = { text: string; language: Language; names?: Names; condition?: boolean }

/**
 * The value of a text in the last run, below its field, or why it has none there. A node fails if its `condition` is
 * neither true nor false.
 */
export function Preview({ text, language, names, condition = false }: Props) {
  const value = useMemo(
    () => (condition ? undefined : previewOf(text, language, names)),
    [text, language, names, condition],
  )
  // What needs no computing is known at once.
  const outcome = useEvaluated(value === undefined ? text : '', condition ? 'condition' : language, names)
  const label = names?.inputData?.seen ? previewText.lastRun : previewText.value
  if (value !== undefined) return <Line label={label} text={value} />
  if (!outcome) return null
  if (outcome.secret !== undefined) return <Line kind="note" text={previewText.secret(outcome.secret)} />
  if (outcome.missing !== undefined)
    return names?.inputData?.seen ? <Line kind="note" text={previewText.missing(outcome.missing)} /> : null
  return <Result {...outcome} label={label} language={language} />
}

function Result({ result, text, stale, label, language }: Outcome & { label: string; language: Language }) {
  if (!result) return null
  if (result === 'too large') return <Line kind="note" text={previewText.tooLarge} />
  const shown = showEvaluated(result.value, text, language)
  if (result.error) {
    const { line, column, message, code } = result.error
    // The server reports a malformed text as a problem of the field.
    if (code === 'bad_template' || code === 'bad_expression') return null
    if (code === 'not_boolean')
      return (
        <Line label={label} stale={stale} text={shown}>
          <Line kind="error" stale={stale} text={previewText.notBoolean(message)} />
        </Line>
      )
    const where = column === undefined ? '' : previewText.at(text.includes('\n') ? line : undefined, column)
    return <Line kind="error" stale={stale} label={label} text={previewText.fails(where, message)} />
  }
  if (result.omitted) return <Line kind="note" text={previewText.omitted} />
  return (
    <Line label={label} stale={stale} text={shown}>
      {result.masked && <span className={classes.previewNote}>{previewText.masked}</span>}
    </Line>
  )
}

type LineProps = { label?: string; text: string; kind?: 'error' | 'note'; stale?: boolean; children?: ReactNode }

function Line({ label, text, kind, stale = false, children }: LineProps) {
  const shown = text.length > longest ? `${text.slice(0, longest - 1)}…` : text
  return (
    <>
      <div className={classes.preview} title={shown} data-kind={kind} data-stale={stale || undefined}>
        {label && <span className={classes.previewLabel}>{label} </span>}
        {shown}
      </div>
      {children}
    </>
  )
}

const longest = 400
