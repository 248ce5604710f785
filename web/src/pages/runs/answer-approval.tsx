import { Button, Group, Stack, Textarea } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { AnswerProps } from './answer-props'
import { answerApprovalText } from '../../text/runs'

/** Approve or reject, with a comment. */
export function ApprovalForm({ answering }: AnswerProps) {
  const [comment, setComment] = useState('')
  const [choice, setChoice] = useState<boolean | null>(null)
  const send = (approved: boolean) => {
    setChoice(approved)
    answering.mutate({ approved, ...(comment.trim() ? { comment: comment.trim() } : {}) })
  }
  return (
    <Stack gap="sm">
      <Textarea
        label={answerApprovalText.comment}
        description={answerApprovalText.optionalAvailableToLaterNodes}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
      />
      <Group gap="xs">
        <Button
          color="green"
          leftSection={<IconCheck size={17} aria-hidden />}
          loading={answering.isPending && choice === true}
          disabled={answering.isPending && choice === false}
          onClick={() => send(true)}
        >
          {answerApprovalText.approve}
        </Button>
        <Button
          color="red"
          variant="outline"
          leftSection={<IconX size={17} aria-hidden />}
          loading={answering.isPending && choice === false}
          disabled={answering.isPending && choice === true}
          onClick={() => send(false)}
        >
          {answerApprovalText.reject}
        </Button>
      </Group>
    </Stack>
  )
}
