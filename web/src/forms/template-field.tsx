import { useMemo, useState } from 'react'
import type { Language } from './completion'
import { type ControlProps, useFormState } from './form-state'
import { about, Frame } from './frame'
import { isError } from './issues'
import { marksOf } from './marks'
import { Preview } from './preview-line'
import { TemplateInput } from './template-input'
import type { FormIssue } from './types'
import { oneLine } from './values'
import { templateFieldText } from '../text/forms'

/** A text with templates, or an expression. Faults are shown while typing, not only after the server has checked. */
export function TemplateField({
  field,
  id,
  label,
  value,
  onChange,
  issues,
  required,
  actions,
  lines,
  language = 'template',
}: ControlProps & { lines: boolean; language?: Language }) {
  const { complete, readOnly } = useFormState()
  const text = typeof value === 'string' ? value : ''
  const [writing, setWriting] = useState(false)
  const found = useOwnIssues(text, language, issues, writing)
  return (
    <Frame id={id} label={label} required={required} description={field.description} issues={found} actions={actions}>
      <TemplateInput
        {...about(id, found, required)}
        onWriting={setWriting}
        value={text}
        // An empty optional text is removed.
        onChange={(next) => onChange(next === '' && !required ? undefined : next)}
        names={complete}
        language={language}
        lines={lines}
        rows={!lines || language === 'expression' ? 1 : required ? 3 : 2}
        readOnly={readOnly}
        placeholder={placeholder(field.hasDefault ? field.standard : undefined, required ? undefined : value, language)}
      />
      <Preview
        text={text}
        language={language}
        names={complete}
        // A condition whose kind is always wrong has a problem that says so.
        condition={field.condition && !found.some(isError)}
      />
    </Frame>
  )
}

// Malformed templates are reported by the page; the server reports the same later in other words, so its message is
// held back. An unfinished template is not reported while it is being typed.
function useOwnIssues(
  text: string,
  language: Language,
  issues: readonly FormIssue[],
  writing: boolean,
): readonly FormIssue[] {
  return useMemo(() => {
    const bad = marksOf(text, language).filter((mark) => mark.kind === 'bad')
    if (bad.length === 0) return issues
    if (writing) return []
    return bad.slice(0, 3).map((mark) => ({ path: [], message: mark.message ?? templateFieldText.invalidPlaceholder }))
  }, [text, language, issues, writing])
}

function placeholder(standard: unknown, value: unknown, language: Language): string | undefined {
  if (standard !== undefined) return oneLine(standard)
  if (value === '') return templateFieldText.emptyText
  return language === 'expression' ? 'input.total > 100' : undefined
}
