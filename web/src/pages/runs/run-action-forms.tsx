import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { ErrorNote, notifyDone } from '../../parts'
import type { Run } from './types'
import { runActionFormsText } from '../../text/runs'

/** Asks for a reason, and cancels. */
export function Cancel({ run, onRecord, onClose }: { run: Run; onRecord: (run: Run) => void; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const cancel = useMutation({
    mutationFn: () =>
      api.execution.cancel.mutate({ executionId: run.id, ...(reason.trim() ? { reason: reason.trim() } : {}) }),
    onSuccess: (record) => {
      onRecord(record)
      onClose()
      notifyDone(runActionFormsText.runCancelled)
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        cancel.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm">{runActionFormsText.theRunFailsActiveStepsAre}</Text>
        <Textarea
          label={runActionFormsText.reason}
          description={runActionFormsText.optionalStoredWithTheRun}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          maxLength={1000}
          autosize
          minRows={2}
          autoFocus
        />
        <ErrorNote error={cancel.error} title={runActionFormsText.couldNotCancelTheRun} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {runActionFormsText.keepRunning}
          </Button>
          <Button type="submit" color="red" loading={cancel.isPending}>
            {runActionFormsText.cancelRun}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
