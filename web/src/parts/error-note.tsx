import { Alert, Button, Group, List, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { describeError, isAborted, showPath } from '../api/errors'
import { errorNoteText } from '../text/parts'
import { commonText } from '../text/common'

type Props = {
  /** Any thrown value; null and undefined render nothing. */
  error: unknown
  /** What failed, as a heading: `The run was not started`. */
  title?: string
  /** Shows a button that retries. */
  onRetry?: () => void
}

/** An error in the page: the server's message, the invalid fields, and what the user can do. */
export function ErrorNote({ error, title, onRetry }: Props) {
  if (error === null || error === undefined || isAborted(error)) return null
  const { message, code, issues, hint } = describeError(error)
  // The server's message already names the fields; the list is for more than one.
  const listed = issues.length > 1
  return (
    <Alert color="red" icon={<IconAlertTriangle size={20} aria-hidden />} title={title} role="alert">
      <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {listed ? errorNoteText.fieldsNeedAChange(issues.length) : message}
      </Text>
      {listed && (
        <List size="sm" mt={4}>
          {issues.map((issue, index) => (
            <List.Item key={index}>
              {issue.path.length > 0 ? `${showPath(issue.path)}: ${issue.message}` : issue.message}
            </List.Item>
          ))}
        </List>
      )}
      {hint && (
        <Text size="sm" mt={4} c="dimmed">
          {hint}
        </Text>
      )}
      {(onRetry || code === 'UNKNOWN') && (
        <Group mt="xs">
          {onRetry ? (
            <Button size="compact-md" variant="default" onClick={onRetry}>
              {commonText.tryAgain}
            </Button>
          ) : (
            <Button size="compact-md" variant="default" onClick={() => location.reload()}>
              {commonText.reload}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  )
}
