import { useMemo } from 'react'
import type { Language } from './completion'
import classes from './text-box.module.css'
import type { Names } from './names'
import { previewOf } from './preview'
import { previewText } from '../text/forms'

/** The value of a text in the last run, below its field. */
export function Preview({ text, language, names }: { text: string; language: Language; names?: Names }) {
  const value = useMemo(() => previewOf(text, language, names), [text, language, names])
  if (value === undefined) return null
  return (
    <div className={classes.preview} title={value}>
      <span className={classes.previewLabel}>{previewText.lastRun}</span> {value}
    </div>
  )
}
