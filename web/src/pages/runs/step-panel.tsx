import { ActionIcon, Alert, Anchor, Button, CopyButton, Group, Text, Title, Tooltip } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArrowsLeftRight,
  IconCheck,
  IconGitFork,
  IconLink,
  IconPencil,
  IconX,
} from '@tabler/icons-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { Duration, JsonView, StatusBadge, Time, useUrlStates } from '../../parts'
import { FactPairs } from './fact-pairs'
import { FailedExchange } from './failed-exchange'
import { hintFor } from './failure-hints'
import { itemLabel } from './item-label'
import { RetryDialog } from './retry-dialog'
import { LogLines } from './run-log'
import classes from './run-page.module.css'
import { nameOf } from './step-rows'
import { around, nodePathOf, placeOf, treeOf } from './step-tree'
import type { Span } from './time-scale'
import { isOf } from './traffic-words'
import { isOver, ms, type Run, type Step } from './types'
import { useExchanges } from './use-exchanges'
import { stepPanelText } from '../../text/runs'
import { commonText } from '../../text/common'

type Props = {
  run: Run
  address: string
  whole: Span
  /** The blueprint of the steps, if they belong to one. */ blueprintId?: string
  /** The step whose input was edited for this run. */ edited?: string
  onClose?: () => void
  onSelect: (address: string) => void
}

/** One step in full: its input, output, log and error. For an item of a loop, its steps. */
export function StepPanel({ run, address, whole, blueprintId, edited, onClose, onSelect }: Props) {
  const step = run.steps.find((one) => one.nodeId === address)
  const within = useMemo(
    () => (step ? [] : run.steps.filter((one) => one.nodeId.startsWith(`${address}/`))),
    [run.steps, step, address],
  )
  const label = useMemo(() => labelAt(within, address), [within, address])
  return (
    <section aria-label={stepPanelText.selectedStep}>
      <div className={classes.panelHead}>
        <div>
          <Title order={3} tabIndex={-1} data-autofocus className={classes.panelTitle}>
            {step ? nameOf(step) : within.length > 0 ? (label ?? stepPanelText.itemOfALoop) : stepPanelText.unknownStep}
          </Title>
          <div className={classes.address}>
            {around(address)
              .filter((_, index) => index % 2 === 0)
              .map((loop) => (
                <span key={loop}>
                  <Anchor component="button" type="button" inherit onClick={() => onSelect(loop)}>
                    {loop}
                  </Anchor>{' '}
                  ›{' '}
                </span>
              ))}
            {address}
            {step && ` · ${step.nodeType}`}
          </div>
        </div>
        <Group gap={2} wrap="nowrap">
          <CopyButton value={linkTo(address)} timeout={2000}>
            {({ copied, copy }) => (
              <Tooltip label={copied ? commonText.copied : stepPanelText.copyALinkToThisStep}>
                <ActionIcon
                  aria-label={stepPanelText.copyALinkToThisStep}
                  onClick={copy}
                  color={copied ? 'green' : 'gray'}
                >
                  {copied ? <IconCheck size={17} aria-hidden /> : <IconLink size={17} aria-hidden />}
                </ActionIcon>
              </Tooltip>
            )}
          </CopyButton>
          {blueprintId && step && (
            <Tooltip label={stepPanelText.openNodeInEditor}>
              <ActionIcon
                component={Link}
                href={`/blueprints/${blueprintId}/edit?node=${encodeURIComponent(nodePathOf(address))}`}
                aria-label={stepPanelText.openNodeInEditor}
              >
                <IconPencil size={17} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          {onClose && (
            <ActionIcon aria-label={stepPanelText.closeStep} onClick={onClose}>
              <IconX size={17} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      </div>
      {step && <Inside run={run} step={step} whole={whole} edited={step.nodeId === edited} />}
      {within.map((one) => (
        <Group key={one.nodeId} justify="space-between" gap="xs" mt={6} wrap="nowrap">
          <Anchor component="button" type="button" size="sm" ta="start" onClick={() => onSelect(one.nodeId)} mih={24}>
            {nameOf(one)}
          </Anchor>
          <StatusBadge status={one.status} size="sm" />
        </Group>
      ))}
      {!step && within.length === 0 && (
        <Text size="sm" c="dimmed">
          {stepPanelText.thisRunHasNoStepWith}
        </Text>
      )}
    </section>
  )
}

function Inside({ run, step, whole, edited }: { run: Run; step: Step; whole: Span; edited: boolean }) {
  const lines = useMemo(() => run.logs.filter((line) => line.nodeId === step.nodeId), [run.logs, step.nodeId])
  const reused = ms(step.endTime) < whole.from
  const begun = step.startTime !== null
  const pairs: [string, ReactNode][] = [
    [commonText.status, <StatusBadge status={step.status} size="sm" />],
    [commonText.started, begun ? <Time at={step.startTime} past /> : false],
    [commonText.duration, begun && step.durationMs !== null ? <Duration ms={step.durationMs} /> : false],
    [stepPanelText.attempts, step.attempt > 1 ? String(step.attempt) : false],
    [commonText.tokens, step.tokensUsed ? step.tokensUsed.toLocaleString('en') : false],
    [stepPanelText.result, reused ? stepPanelText.keptFromTheRetriedRun : false],
  ]
  return (
    <>
      <FactPairs pairs={pairs} className={classes.meta} />
      {begun && isOver(run.status) && run.status !== 'not_found' && <Again run={run} address={step.nodeId} />}
      {step.error && (
        <Alert
          color="red"
          mt="sm"
          icon={<IconAlertTriangle size={20} aria-hidden />}
          title={step.error.code ?? stepPanelText.failed}
        >
          <Text size="sm" className={classes.wrap}>
            {step.error.message}
          </Text>
          <Text size="sm" mt={6}>
            {step.error.hint ?? hintFor(step.error.code)}
          </Text>
        </Alert>
      )}
      {step.error?.exchange && <FailedExchange exchange={step.error.exchange} address={step.nodeId} />}
      <TrafficOf run={run} address={step.nodeId} />
      {begun && (
        <div className={classes.part}>
          <JsonView
            heading={<Title order={4}>{edited ? stepPanelText.editedInput : commonText.input}</Title>}
            value={step.input}
            label={stepPanelText.inputOf(step.nodeId)}
            maxHeight="240px"
          />
        </div>
      )}
      {(step.status === 'completed' || step.output !== null) && (
        <div className={classes.part}>
          <JsonView
            heading={<Title order={4}>{commonText.output}</Title>}
            value={step.output}
            label={stepPanelText.outputOf(step.nodeId)}
            maxHeight="420px"
          />
        </div>
      )}
      {!begun && step.status === 'pending' && (
        <Text size="sm" c="dimmed" mt="sm">
          {run.status === 'failed' ? stepPanelText.theRunEndedBeforeThisStep : stepPanelText.notStartedYet}
        </Text>
      )}
      {!begun && step.status === 'skipped' && (
        <Text size="sm" c="dimmed" mt="sm">
          {stepPanelText.noBranchLedToThisStep}
        </Text>
      )}
      {lines.length > 0 && (
        <div className={classes.part}>
          <Title order={4}>{stepPanelText.stepLog}</Title>
          <LogLines lines={lines} start={whole.from} label={stepPanelText.logLinesOf(step.nodeId)} />
        </div>
      )}
    </>
  )
}

// Starts a new run from a step.
function Again({ run, address }: { run: Run; address: string }) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button
        mt="sm"
        variant="default"
        size="compact-sm"
        leftSection={<IconGitFork size={15} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        {stepPanelText.runAgainFromHere}
      </Button>
      <RetryDialog run={run} step={address} opened={opened} onClose={() => setOpened(false)} />
    </>
  )
}

// The label of an item, from its steps.
function labelAt(within: Step[], address: string): string | undefined {
  const place = placeOf(`${address}/x`)
  if (!place || within.length === 0) return undefined
  const [loop] = treeOf([{ ...within[0]!, nodeId: place.loop }, ...within])
  return loop?.items[0] && itemLabel(loop.items[0])
}

function linkTo(address: string): string {
  const link = new URL(location.href)
  link.searchParams.set('step', address)
  return link.href
}

// A link to the traffic of the step, if known.
function TrafficOf({ run, address }: { run: Run; address: string }) {
  const count = useExchanges(run).data?.exchanges.filter((one) => isOf(one, address)).length ?? 0
  const [, set] = useUrlStates({ traffic: '', calls: '' })
  if (count === 0) return null
  return (
    <Button
      mt="sm"
      variant="default"
      size="compact-sm"
      leftSection={<IconArrowsLeftRight size={15} aria-hidden />}
      onClick={() => set({ traffic: address, calls: '' })}
    >
      {stepPanelText.exchangesWithOtherServices(count)}
    </Button>
  )
}
