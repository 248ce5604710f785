import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { type ReactNode, useContext, useLayoutEffect } from 'react'
import { HideLabelContext } from './form-state'
import classes from './forms.module.css'
import { isError, ordered, sentence } from './issues'
import type { FormIssue } from './types'
import { frameText } from '../text/forms'

type Props = {
  /** The id of the control. Its description has `${id}-about`. */
  id: string
  label: string
  required?: boolean
  description?: ReactNode
  issues?: readonly FormIssue[]
  /** Small buttons beside the label. */
  actions?: ReactNode
  /** The field is a group of controls. */
  group?: boolean
  children: ReactNode
}

/** A control with its name above and its description and issues below. */
export function Frame({ id, label, required, description, issues = [], actions, group, children }: Props) {
  const hideLabel = useContext(HideLabelContext)
  const bad = issues.some(isError)
  // Mantine's inputs take aria-describedby and aria-invalid from their own wrapper and drop the props.
  useLayoutEffect(() => {
    const control = group ? null : document.getElementById(id)
    if (!control) return
    control.setAttribute('aria-describedby', `${id}-about`)
    if (bad) control.setAttribute('aria-invalid', 'true')
    else control.removeAttribute('aria-invalid')
  })
  const name = (
    <>
      {label}
      {required && (
        <span className={classes.star} aria-hidden>
          {' '}
          *
        </span>
      )}
    </>
  )
  const head = (
    <div className={classes.head} data-hidden={hideLabel && !actions ? true : undefined}>
      {group ? (
        <span id={`${id}-label`} className={hideLabel ? classes.unseen : classes.label}>
          {name}
        </span>
      ) : (
        <label htmlFor={id} id={`${id}-label`} className={hideLabel ? classes.unseen : classes.label}>
          {name}
        </label>
      )}
      {actions && <span className={classes.actions}>{actions}</span>}
    </div>
  )
  const notes = (
    <div id={`${id}-about`} className={classes.about}>
      <Issues issues={issues} />
      {description && <div className={classes.description}>{description}</div>}
    </div>
  )
  if (group) {
    return (
      <div
        role="group"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-about`}
        className={classes.field}
        data-group
      >
        {head}
        {notes}
        {children}
      </div>
    )
  }
  return (
    <div className={classes.field}>
      {head}
      {children}
      {notes}
    </div>
  )
}

/** Issues as lines, errors first. Screen readers announce new ones. */
export function Issues({ issues }: { issues: readonly FormIssue[] }) {
  const lines = ordered(issues)
  return (
    <div className={classes.issues} aria-live="polite">
      {lines.map((issue) => (
        <Line key={sentence(issue)} issue={issue} />
      ))}
    </div>
  )
}

function Line({ issue }: { issue: FormIssue }) {
  const words = upper(sentence(issue))
  if (issue.severity === 'unfilled') return <div className={classes.unfilled}>{words}</div>
  const [kind, Sign] = isError(issue) ? (['error', IconAlertTriangle] as const) : (['warning', IconInfoCircle] as const)
  return (
    <div className={classes[kind]}>
      <Sign size={14} aria-hidden />
      <span>
        <span className={classes.unseen}>{frameText[kind]}</span>
        {words}
      </span>
    </div>
  )
}

/** The ARIA attributes of a control. */
export function about(id: string, issues: readonly FormIssue[], required = false) {
  const bad = issues.some(isError)
  return {
    id,
    'aria-describedby': `${id}-about`,
    'aria-invalid': bad || undefined,
    'aria-required': required || undefined,
  }
}

// Capitalizes a sentence of the server, unless it starts with a key or a quote.
function upper(text: string): string {
  return /^[a-z]+ /.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text
}
