import { Alert, Loader, Text, UnstyledButton } from '@mantine/core'
import { IconAlertCircle, IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { showPath } from '../../api/errors'
import { ErrorNote } from '../../parts'
import classes from './issues-panel.module.css'
import type { Located, Validation } from './use-validation'

/** Everything that is wrong or doubtful; each leads to where it lies. */
export function IssuesPanel({ validation, onGo }: { validation: Validation; onGo: (issue: Located) => void }) {
  const { issues, checking, error } = validation
  if (error !== undefined && issues.length === 0) return <ErrorNote error={error} title="It could not be checked" />
  if (checking) return <Text size="sm" c="dimmed" p="sm"><Loader size={12} mr={6} />Checking</Text>
  if (issues.length === 0) return <Alert color="green" icon={<IconCircleCheck size={20} aria-hidden />}>Nothing is wrong. It can run as it is.</Alert>
  const sorted = [...issues.filter((issue) => issue.severity === 'error'), ...issues.filter((issue) => issue.severity === 'warning')]
  return (
    <ul className={classes.list} aria-label="Issues">
      {sorted.map((issue, index) => (
        <li key={index}>
          <UnstyledButton className={classes.issue} onClick={() => onGo(issue)}>
            {issue.severity === 'error'
              ? <IconAlertCircle size={17} className={classes.error} aria-label="Error" />
              : <IconAlertTriangle size={17} className={classes.warning} aria-label="Warning" />}
            <span className={classes.words}>
              <b>{placeOf(issue)}</b>
              <span>{issue.message}</span>
            </span>
          </UnstyledButton>
        </li>
      ))}
    </ul>
  )
}

function placeOf(issue: Located): string {
  if (issue.variable !== undefined) return ['Variables', showPath(issue.field)].filter(Boolean).join(': ')
  const field = issue.field[0] === 'config' ? issue.field.slice(1) : issue.field
  const node = [...issue.level, issue.nodeId].filter(Boolean).join(' / ')
  if (issue.edge !== undefined) return node ? `Edge from ${node}` : 'Edge'
  return [node || 'Blueprint', showPath(field)].filter(Boolean).join(': ')
}
