import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { ErrorNote, notifyDone, useUrlStates } from '../../parts'
import { nameOf } from './step-rows'
import type { Run } from './types'

/** Asks why, and cancels. */
export function Cancel({ run, onRecord, onClose }: { run: Run; onRecord: (run: Run) => void; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const cancel = useMutation({
    mutationFn: () =>
      api.execution.cancel.mutate({ executionId: run.id, ...(reason.trim() ? { reason: reason.trim() } : {}) }),
    onSuccess: (record) => {
      onRecord(record)
      onClose()
      notifyDone('The run is cancelled')
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
        <Text size="sm">
          It ends as failed. Steps that are under way are stopped; what they did already stays done.
        </Text>
        <Textarea
          label="Reason"
          description="Stands in the record of the run. May stay empty."
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          maxLength={1000}
          autosize
          minRows={2}
          autoFocus
        />
        <ErrorNote error={cancel.error} title="The run was not cancelled" />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Let it go on
          </Button>
          <Button type="submit" color="red" loading={cancel.isPending}>
            Cancel the run
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const most = 200

/** Asks from where, and retries. */
export function Retry({ run, onClose }: { run: Run; onClose: () => void }) {
  const [, navigate] = useLocation()
  const [{ step: selected }] = useUrlStates({ step: '' })
  const failed = run.status === 'failed'
  const steps = run.steps.filter((step) => step.startTime !== null).slice(0, most)
  const chosen = run.steps.find((step) => step.nodeId === selected && step.startTime !== null)
  if (chosen && !steps.includes(chosen)) steps.unshift(chosen)
  const [from, setFrom] = useState<string | null>(failed ? '' : (chosen?.nodeId ?? steps[0]?.nodeId ?? null))
  const retry = useMutation({
    mutationFn: () => api.execution.retry.mutate({ executionId: run.id, ...(from ? { fromNodeId: from } : {}) }),
    onSuccess: ({ executionId }) => {
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
      notifyDone('A new run was started')
      navigate(`/runs/${executionId}`)
    },
  })
  const data = [
    ...(failed ? [{ value: '', label: 'What did not complete' }] : []),
    ...steps.map((step, index) => ({
      value: step.nodeId,
      label: `${nameOf(step)}${step.nodeId === nameOf(step) ? '' : ` (${step.nodeId})`}${index === 0 ? ', the first step' : ''}`,
    })),
  ]
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        retry.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          A new run begins, of the same version and with the same input. Steps before the chosen one keep their results;
          it and all that follows run again, with their mails, messages and requests.
        </Text>
        <Select
          label="Begin at"
          data={data}
          value={from}
          onChange={setFrom}
          searchable
          allowDeselect={false}
          nothingFoundMessage="No such step"
        />
        <ErrorNote error={retry.error} title="No run was started" />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={retry.isPending} disabled={from === null} autoFocus>
            Retry
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
