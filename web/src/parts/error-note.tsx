import { Alert, Button, Group, List, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { describeError, isAborted, type Issue, showPath } from '../api/errors'
import { errorNoteText } from '../text/parts'
import { commonText } from '../text/common'

type Props = {
  /** Any thrown value; null and undefined render nothing. */
  error: unknown
  /** What failed, as a heading: `The run was not started`. */
  title?: string
  /** Shows a button that retries. */
  onRetry?: () => void
  /** Describes an issue by the label of its field in a form; undefined for one without a field there. */
  describe?: (issue: Issue) => string | undefined
}

/** An error in the page: the server's message, the invalid fields, and what the user can do. */
export function ErrorNote({ error, title, onRetry, describe }: Props) {
  if (error === null || error === undefined || isAborted(error)) return null
  const { message, code, issues, hint } = describeError(error)
  // The server's message already names the fields; the list is for more than one.
  const listed = issues.length > 1
  const described = issues.length === 1 ? describe?.(issues[0]!) : undefined
  return (
    <Alert color="red" icon={<IconAlertTriangle size={20} aria-hidden />} title={title} role="alert">
      <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {listed ? errorNoteText.fieldsNeedAChange(issues.length) : (described ?? message)}
      </Text>
      {listed && (
        <List size="sm" mt={4}>
          {issues.map((issue, index) => (
            <List.Item key={index}>{describe?.(issue) ?? byPath(issue)}</List.Item>
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

function byPath({ path, message }: Issue): string {
  return path.length > 0 ? `${showPath(path)}: ${message}` : message
}
