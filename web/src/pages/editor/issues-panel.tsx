import { Alert, Loader, Text, UnstyledButton } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useId } from 'react'
import { showPath } from '../../api/errors'
import { ErrorNote } from '../../parts'
import classes from './issues-panel.module.css'
import type { Located, Validation } from './use-validation'
import { issuesPanelText } from '../../text/editor'
import { commonText } from '../../text/common'

/** All errors and warnings; each links to its place. */
export function IssuesPanel({ validation, onGo }: { validation: Validation; onGo: (issue: Located) => void }) {
  const { issues, checking, error } = validation
  if (error !== undefined && issues.length === 0) return <ErrorNote error={error} title={issuesPanelText.notChecked} />
  if (checking)
    return (
      <Text size="sm" c="dimmed" p="sm">
        <Loader size={12} mr={6} />
        {issuesPanelText.checking}
      </Text>
    )
  if (issues.length === 0)
    return (
      <Alert color="green" icon={<IconCircleCheck size={20} aria-hidden />}>
        {issuesPanelText.noProblems}
      </Alert>
    )
  const errors = issues.filter((issue) => issue.severity === 'error')
  const warnings = issues.filter((issue) => issue.severity === 'warning')
  return (
    <>
      {errors.length > 0 && (
        <Part
          title={issuesPanelText.errors(errors.length)}
          text={
            errors.some((issue) => issue.unapplied)
              ? issuesPanelText.fixFieldsThatAreNotApplied
              : issuesPanelText.stepsWithErrorsFailWhenThey
          }
          issues={errors}
          onGo={onGo}
        />
      )}
      {warnings.length > 0 && (
        <Part
          title={issuesPanelText.warnings(warnings.length)}
          text={issuesPanelText.recommendationsYouCanSaveAnd}
          issues={warnings}
          onGo={onGo}
        />
      )}
    </>
  )
}

function Part({
  title,
  text,
  issues,
  onGo,
}: {
  title: string
  text: string
  issues: Located[]
  onGo: (issue: Located) => void
}) {
  const id = useId()
  return (
    <section className={classes.part} aria-labelledby={id}>
      <h2 id={id} className={classes.title}>
        {title}
      </h2>
      <Text size="xs" c="dimmed" px={8} mb={4}>
        {text}
      </Text>
      <ul className={classes.list} aria-labelledby={id}>
        {issues.map((issue, index) => (
          <li key={index}>
            <UnstyledButton className={classes.issue} onClick={() => onGo(issue)}>
              {issue.severity === 'error' ? (
                <IconAlertCircle size={17} className={classes.error} role="img" aria-label={issuesPanelText.error} />
              ) : (
                <IconAlertTriangle
                  size={17}
                  className={classes.warning}
                  role="img"
                  aria-label={issuesPanelText.warning}
                />
              )}
              <span className={classes.words}>
                <b>{placeOf(issue)}</b>
                <span>{issue.message}</span>
              </span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  )
}

function placeOf(issue: Located): string {
  if (issue.variable !== undefined) {
    const field = issue.variableName !== undefined && issue.field[0] === 'name' ? '' : showPath(issue.field)
    return [
      issue.variableName === undefined ? commonText.variables : issuesPanelText.variable(issue.variableName),
      field,
    ]
      .filter(Boolean)
      .join(': ')
  }
  const field = issue.field[0] === 'config' ? issue.field.slice(1) : issue.field
  const node = [...issue.level, issue.nodeId].filter(Boolean).join(' / ')
  if (issue.edge !== undefined) return node ? issuesPanelText.edgeFrom(node) : issuesPanelText.edge
  return [node || commonText.blueprint, showPath(field)].filter(Boolean).join(': ')
}
