import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { parseJson, show } from '../../api/json'
import { queryClient } from '../../api/query-client'
import { ErrorNote, JsonInput, notifyDone } from '../../parts'
import { checkJson } from '../../parts/json-check'
import { itemNames } from './item-label'
import { nameOf } from './step-rows'
import { placeOf } from './step-tree'
import type { Run, Step } from './types'
import { retryFormText } from '../../text/runs'
import { commonText } from '../../text/common'

const most = 200

/** Asks where to begin again and with which input, and starts the new run. */
export function Retry({ run, step, onClose }: { run: Run; step?: string; onClose: () => void }) {
  const [, navigate] = useLocation()
  const failed = run.status === 'failed'
  const steps = run.steps.filter((one) => one.startTime !== null).slice(0, most)
  const chosen = run.steps.find((one) => one.nodeId === step && one.startTime !== null)
  if (chosen && !steps.includes(chosen)) steps.unshift(chosen)
  const [from, setFrom] = useState(chosen?.nodeId ?? (failed ? '' : (steps[0]?.nodeId ?? '')))
  const first = steps.find((one) => one.nodeId === from)
  const before = first ? show(first.input) : ''
  const [edited, setEdited] = useState<string | null>(null)
  const text = edited ?? before
  const changed = first !== undefined && text.trim() !== before
  const fault = changed ? checkJson(text) : undefined
  const retry = useMutation({
    mutationFn: () =>
      changed
        ? api.execution.fork.mutate({ executionId: run.id, fromNodeId: from, input: parseJson(text) })
        : api.execution.retry.mutate({ executionId: run.id, ...(from ? { fromNodeId: from } : {}) }),
    onSuccess: ({ executionId }) => {
      onClose()
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
      void queryClient.invalidateQueries({ queryKey: ['run', run.id, 'retries'] })
      notifyDone(retryFormText.newRunStarted)
      navigate(`/runs/${executionId}`)
    },
  })
  const items = itemNames(run.steps)
  const data = [
    ...(failed ? [{ value: '', label: retryFormText.incompleteSteps }] : []),
    ...steps.map((one) => ({ value: one.nodeId, label: labelOf(one, items) })),
  ]
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!fault) retry.mutate()
      }}
    >
      <Stack gap="md">
        <Text size="sm">{retryFormText.startsANewRunOfThe}</Text>
        <Select
          label={retryFormText.startAt}
          data={data}
          value={from}
          onChange={(value) => {
            setFrom(value ?? '')
            setEdited(null)
          }}
          searchable
          allowDeselect={false}
          nothingFoundMessage={retryFormText.noStepsFound}
        />
        {first && (
          <JsonInput
            label={retryFormText.inputOfThisStep}
            description={retryFormText.editItToFork}
            value={text}
            onChange={setEdited}
            minRows={4}
            maxRows={14}
          />
        )}
        <ErrorNote error={retry.error} title={retryFormText.couldNotStartARun} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={retry.isPending} disabled={Boolean(fault)} autoFocus>
            {changed ? retryFormText.fork : commonText.retry}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function labelOf(step: Step, items: ReadonlyMap<string, string>): string {
  const name = nameOf(step)
  const item = items.get(placeOf(step.nodeId)?.item ?? '')
  const words = item === undefined ? name : `${item} · ${name}`
  return step.nodeId === words ? words : `${words} (${step.nodeId})`
}
