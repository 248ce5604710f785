import { useEffect, useMemo, useRef } from 'react'
import { describeError, showPath } from '../../api/errors'
import { issuesUnder, SchemaForm } from '../../forms'
import { needless } from './config-change'
import { dressed } from './types'
import { configFieldsText } from '../../text/connections'

type Props = {
  type: string
  schema: Record<string, unknown>
  config: Record<string, unknown>
  onChange: (config: Record<string, unknown>) => void
  /** The error of the last refused call. */
  error: unknown
  readOnly?: boolean
  organizationId?: string
}

/** The form of a config. Errors of a refused call are shown at their fields, and the first of them is focused. */
export function ConfigFields({ type, schema, config, onChange, error, readOnly, organizationId }: Props) {
  const holder = useRef<HTMLDivElement>(null)
  const { flow } = config
  const shown = useMemo(() => dressed(schema, { flow }), [schema, flow])
  const issues = error
    ? issuesUnder(describeError(error).issues, ['config']).map((issue) => ({
        ...issue,
        message: plainer(issue.message),
      }))
    : []
  useEffect(() => {
    if (error) requestAnimationFrame(() => holder.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
  }, [error])
  return (
    <div ref={holder}>
      <SchemaForm
        schema={shown}
        value={config}
        onChange={(next) => onChange((next ?? {}) as Record<string, unknown>)}
        issues={issues}
        readOnly={readOnly}
        hide={needless(type, config)}
        context={{ organizationId }}
      />
    </div>
  )
}

// Rewords a message of the server, which addresses programs, for the user of a form.
function plainer(message: string): string {
  if (message === 'required') return configFieldsText.required
  const moved = /^must be given again.* because (it would be sent elsewhere after a change of .+)$/.exec(message)
  if (moved) return configFieldsText.enterItAgain(moved[1])
  return /^(must|is|has)\b/.test(message) ? configFieldsText.it(message) : message
}

/** Reports whether all errors of a call are shown at fields of the form, so that no note is needed. */
export function allAtFields(error: unknown): boolean {
  const { issues } = describeError(error)
  return (
    issues.length > 0 &&
    issues.every(({ path }) => (path[0] === 'config' && path.length > 1) || showPath(path) === 'name')
  )
}
