import { Button, Group, Menu, Modal, Skeleton, Stack, Switch, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconHistory, IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { api, type Outputs } from '../../api/client'
import { describeError } from '../../api/errors'
import { parseJson } from '../../api/json'
import { queryClient } from '../../api/query-client'
import { ErrorNote, JsonInput, Time } from '../../parts'
import { checkJson } from '../../parts/json-check'
import { earlierInputs, shortened } from './run-inputs'
import { VariableField } from './variable-field'
import { type Fields, firstFields, readFields, readVariables, serverFault } from './variable-fields'
import { runDialogText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = {
  blueprintId: string
  opened: boolean
  onClose: () => void
  /** Called with the id of the run; without it the page of the run is shown. */
  onStarted?: (executionId: string) => void
  /** Initial values: those of an earlier run. */
  start?: Start
}
/** The initial values of the dialog. */
export type Start = { record: boolean; variables?: Record<string, unknown>; input?: string }

/** Asks for variables and input, and starts a run of the stored blueprint. */
export function RunDialog({ blueprintId, opened, onClose, onStarted, start }: Props) {
  const narrow = useMediaQuery('(max-width: 47.99em)')
  return (
    <Modal opened={opened} onClose={onClose} title={runDialogText.startRun} size="lg" fullScreen={narrow} returnFocus>
      <Inside blueprintId={blueprintId} onClose={onClose} onStarted={onStarted} start={start} />
    </Modal>
  )
}

function Inside({ blueprintId, onClose, onStarted, start }: Omit<Props, 'opened'>) {
  // Fetched each time: the run uses the stored blueprint, not a cached one.
  const blueprint = useQuery({
    queryKey: ['blueprint', blueprintId, 'to run'],
    queryFn: () => api.blueprint.get.query({ id: blueprintId }),
    staleTime: 0,
    gcTime: 0,
  })
  const earlier = useQuery({
    queryKey: ['runs', 'inputs', blueprintId],
    queryFn: () => api.execution.getExecutionLogs.query({ blueprintId, limit: 10 }),
    staleTime: 0,
  })
  if (blueprint.isError)
    return (
      <ErrorNote
        error={blueprint.error}
        title={runDialogText.couldNotLoadTheBlueprint}
        onRetry={() => void blueprint.refetch()}
      />
    )
  if (!blueprint.data)
    return (
      <Stack aria-busy="true">
        <Skeleton h={58} />
        <Skeleton h={58} />
        <Skeleton h={120} />
      </Stack>
    )
  return (
    <Form
      blueprint={blueprint.data}
      logs={earlier.data?.logs ?? []}
      onClose={onClose}
      onStarted={onStarted}
      begin={start}
    />
  )
}

type FormProps = {
  blueprint: Outputs['blueprint']['get']
  logs: Outputs['execution']['getExecutionLogs']['logs']
  onClose: () => void
  onStarted?: (executionId: string) => void
  begin?: Start
}

function Form({ blueprint, logs, onClose, onStarted, begin }: FormProps) {
  const [, navigate] = useLocation()
  const variables = readVariables(blueprint.environment_variables)
  const [fields, setFields] = useState<Fields>(() => firstFields(variables, begin?.variables))
  const [input, setInput] = useState(begin?.input ?? '')
  const [record, setRecord] = useState(begin?.record ?? false)
  const [tried, setTried] = useState(false)
  const { values, faults } = readFields(variables, fields)
  const form = useRef<HTMLFormElement>(null)
  const first = variables.length > 0 ? 'input, textarea, select' : '[type=submit]'
  const begun = useEffectEvent(() => form.current?.querySelector<HTMLElement>(first)?.focus())
  useEffect(() => {
    const timer = setTimeout(begun) // after the dialog, which focuses its close button while the form loads
    return () => clearTimeout(timer)
  }, [])
  const inputFault = input.trim() !== '' && checkJson(input) !== undefined
  const start = useMutation({
    mutationFn: () => {
      const map = blueprint.blueprint_map as { nodes?: unknown[]; edges?: unknown[] } | null
      return api.execution.executeBlueprintWithLogging.mutate({
        nodes: map?.nodes ?? [],
        ...(map?.edges?.length ? { edges: map.edges } : {}),
        options: {
          blueprintId: blueprint.id,
          variables: values,
          ...(input.trim() ? { inputData: parseJson(input) } : {}),
          ...(record ? { record } : {}),
        },
      })
    },
    onSuccess: ({ executionId }) => {
      void queryClient.invalidateQueries({ queryKey: ['runs'] })
      onClose()
      if (onStarted) onStarted(executionId)
      else navigate(`/runs/${executionId}`)
    },
  })
  const issues = start.error ? describeError(start.error).issues : []
  const inputs = earlierInputs(logs)
  const latest = logs.find((log) => Object.keys(log.inputVariables).length > 0)

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    setTried(true)
    const form = event.currentTarget
    requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
    if (Object.keys(faults).length === 0 && !inputFault) start.mutate()
  }

  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {runDialogText.runsTheSavedVersionOf(blueprint.version, blueprint.title)}
        </Text>
        {variables.length > 0 && (
          <Stack gap="sm" role="group" aria-labelledby="run-variables">
            <Group justify="space-between">
              <Text id="run-variables" fw={600} size="sm">
                {commonText.variables}
              </Text>
              {latest && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  onClick={() => setFields(firstFields(variables, latest.inputVariables))}
                >
                  {runDialogText.useVariablesOfTheLastRun}
                </Button>
              )}
            </Group>
            {variables.map((variable) => (
              <VariableField
                key={variable.name}
                variable={variable}
                field={fields[variable.name] ?? { text: '', stored: false }}
                fault={tried ? (faults[variable.name] ?? serverFault(issues, variable.name)) : undefined}
                onChange={(field) => setFields((before) => ({ ...before, [variable.name]: field }))}
              />
            ))}
          </Stack>
        )}
        <div>
          <JsonInput
            label={commonText.input}
            description={runDialogText.inputOfTheFirstStepAs}
            placeholder={runDialogText.example}
            optional
            value={input}
            onChange={setInput}
            minRows={4}
            maxRows={14}
          />
          {inputs.length > 0 && (
            <Menu position="bottom-start" width={320}>
              <Menu.Target>
                <Button mt={6} variant="subtle" size="compact-sm" leftSection={<IconHistory size={15} aria-hidden />}>
                  {runDialogText.useAnEarlierInput}
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {inputs.map((one) => (
                  <Menu.Item key={one.executionId} onClick={() => setInput(one.text)}>
                    <Text size="sm" ff="monospace" truncate>
                      {shortened(one.text)}
                    </Text>
                    <Text size="xs">
                      <Time at={one.at} />
                    </Text>
                  </Menu.Item>
                ))}
              </Menu.Dropdown>
            </Menu>
          )}
        </div>
        <Switch
          label={runDialogText.recordTraffic}
          aria-label={runDialogText.recordTraffic}
          description={runDialogText.storesRequestsResponsesAnd}
          checked={record}
          onChange={(event) => setRecord(event.currentTarget.checked)}
        />
        <ErrorNote error={start.error} title={runDialogText.couldNotStartTheRun} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={start.isPending} leftSection={<IconPlayerPlay size={17} aria-hidden />}>
            {runDialogText.start}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
