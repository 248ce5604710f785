import { Button, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { ErrorNote, notifyDone, useUrlStates } from '../../parts'
import { nameOf } from './step-rows'
import type { Run } from './types'
import { runActionFormsText } from '../../text/runs'
import { commonText } from '../../text/common'

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

const most = 200

/** Asks where to continue, and retries. */
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
      notifyDone(runActionFormsText.newRunStarted)
      navigate(`/runs/${executionId}`)
    },
  })
  const data = [
    ...(failed ? [{ value: '', label: runActionFormsText.incompleteSteps }] : []),
    ...steps.map((step, index) => ({
      value: step.nodeId,
      label: `${nameOf(step)}${step.nodeId === nameOf(step) ? '' : ` (${step.nodeId})`}${index === 0 ? runActionFormsText.theFirstStep : ''}`,
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
        <Text size="sm">{runActionFormsText.startsANewRunOfThe}</Text>
        <Select
          label={runActionFormsText.startAt}
          data={data}
          value={from}
          onChange={setFrom}
          searchable
          allowDeselect={false}
          nothingFoundMessage={runActionFormsText.noStepsFound}
        />
        <ErrorNote error={retry.error} title={runActionFormsText.couldNotStartARun} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={retry.isPending} disabled={from === null} autoFocus>
            {commonText.retry}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
