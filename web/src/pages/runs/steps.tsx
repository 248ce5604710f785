import { ActionIcon, Button, Chip, Drawer, Group, Title, Tooltip } from '@mantine/core'
import '@mantine/core/styles/Chip.layer.css'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowsMaximize, IconFocus2, IconZoomIn, IconZoomOut } from '@tabler/icons-react'
import { useCallback, useMemo, useRef, useState } from 'react'
import { GraphView } from '../../graph'
import { useUrlStates } from '../../parts'
import { graphOf } from './run-graph'
import classes from './run-page.module.css'
import { StepPanel } from './step-panel'
import { rowsOf } from './step-rows'
import { treeOf } from './step-tree'
import { useNodeTypesLater } from '../../graph/use-node-types'
import { alwaysWaits } from './always-waits'
import { axisOf, busyOf } from './time-axis'
import { around, pausesOf, type Span, wholeOf, zoomed } from './time-scale'
import { Timeline } from './timeline'
import { isOver, type Run, type StepStatus, waitsOf } from './types'
import { useRoom } from './use-room'
import type { RunFacts } from './use-run-facts'
import { useServerClock } from './use-server-clock'
import { stepsText } from '../../text/runs'
import { commonText } from '../../text/common'

const failures: ReadonlySet<StepStatus> = new Set(['failed', 'paused', 'running'])

/** The steps of a run: on the graph, over time, and the selected one in full. The selection is in the address. */
export function Steps({ run, facts }: { run: Run; facts: RunFacts }) {
  const [{ step: linked, only }, set] = useUrlStates({ step: '', only: '' })
  const [closed, setClosed] = useState(false)
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [chosenWindow, setWindow] = useState<Span | null>(null)
  const wide = useMediaQuery('(min-width: 75em)', true, { getInitialValueInEffect: false })
  const columns = useRef<HTMLDivElement>(null)
  const room = useRoom(columns)
  // A failed run shows why, until the user selects another step or closes it. A sheet would cover the page.
  const selected = linked || (wide && !closed ? failedStepOf(run) : '')
  const over = isOver(run.status)
  const now = useServerClock(!over)
  const whole = wholeOf(run, now)
  const tree = useMemo(() => treeOf(run.steps), [run.steps])
  const rows = useMemo(
    () => rowsOf(tree, { toggled, selected: selected || null, only: only === 'failed' ? failures : undefined }),
    [tree, toggled, selected, only],
  )
  const waits = useMemo(() => new Map(waitsOf(run).map((asked) => [asked.nodeId, asked])), [run])
  const pauses = useMemo(() => pausesOf(run.logs), [run.logs])
  const types = useNodeTypesLater().data
  const axis = useMemo(() => {
    const span = { from: whole.from, to: whole.to }
    return axisOf(
      span,
      busyOf(tree, span, waits, pauses, (step) => alwaysWaits(types, step.nodeType)),
      over,
    )
  }, [whole.from, whole.to, tree, waits, pauses, types, over])
  const window = chosenWindow && chosenWindow.to > chosenWindow.from ? chosenWindow : axis.whole
  const graph = useMemo(() => graphOf(facts.map, run.steps), [facts.map, run.steps])
  const choose = useCallback(
    (address: string | undefined) => {
      setClosed(!address)
      set({ step: address ?? '' })
    },
    [set],
  )
  const onWindow = useCallback((next: Span) => setWindow(next), [])
  const row = rows.find((one) => one.address === selected)
  const zoomedIn = window.to - window.from < axis.whole.to - axis.whole.from - 0.5
  const failed = run.steps.some((step) => step.status === 'failed')
  const toggle = (address: string, open: boolean) => {
    setToggled((before) => new Map(before).set(address, open))
    // Collapsing a row around the selected step moves the selection to it.
    if ((!open && selected.startsWith(`${address}[`)) || (!open && selected.startsWith(`${address}/`))) choose(address)
  }
  const panel = selected && (
    <StepPanel
      run={run}
      address={selected}
      whole={whole}
      blueprintId={facts.map ? facts.listed?.blueprintId : undefined}
      edited={facts.record?.executionMetadata.inputEdited ? facts.record.executionMetadata.fromNodeId : undefined}
      onClose={wide ? () => choose('') : undefined}
      onSelect={choose}
    />
  )

  const zoom = (
    <Group gap={0} wrap="nowrap" role="group" aria-label={stepsText.timelineZoom}>
      <Tool name={stepsText.zoomIn} off={false} act={() => onWindow(zoomed(window, axis.whole, 0.5))}>
        <IconZoomIn size={16} aria-hidden />
      </Tool>
      <Tool
        name={stepsText.zoomOut}
        off={!zoomedIn}
        act={() => setWindow(next(zoomed(window, axis.whole, 2), axis.whole))}
      >
        <IconZoomOut size={16} aria-hidden />
      </Tool>
      <Tool
        name={stepsText.zoomToTheSelectedStep}
        off={!row || !Number.isFinite(row.start) || row.end < whole.from}
        act={() =>
          row &&
          onWindow(
            around(axis.place({ from: row.start, to: Number.isFinite(row.end) ? row.end : whole.to }), axis.whole),
          )
        }
      >
        <IconFocus2 size={16} aria-hidden />
      </Tool>
      <Tool name={stepsText.showTheWholeRun} off={!zoomedIn} act={() => setWindow(null)}>
        <IconArrowsMaximize size={16} aria-hidden />
      </Tool>
    </Group>
  )

  return (
    <section className={classes.section} aria-labelledby="run-steps">
      <div className={classes.sectionHead}>
        <Title order={2} id="run-steps">
          {commonText.steps}
        </Title>
        {(failed || only === 'failed') && (
          <Chip size="xs" checked={only === 'failed'} onChange={(on) => set({ only: on ? 'failed' : '' })}>
            {stepsText.failedAndActiveOnly}
          </Chip>
        )}
      </div>
      <div className={classes.columns} data-two={wide && Boolean(selected)} ref={columns}>
        <div>
          {graph && (
            <div className={classes.graph}>
              <GraphView
                map={graph.map}
                statuses={graph.statuses}
                selected={graph.selectedOf(selected)}
                onSelect={choose}
                // Notes and groups need room above and below the nodes.
                height={graph.marked ? 360 : wide ? 230 : 200}
                label={stepsText.blueprintWithStepStatuses}
              />
            </div>
          )}
          <Timeline
            rows={rows}
            whole={whole}
            axis={axis}
            window={window}
            selected={selected || null}
            waits={waits}
            pauses={pauses}
            onSelect={choose}
            onToggle={toggle}
            onWindow={onWindow}
            zoom={zoom}
          />
        </div>
        {wide && panel && (
          <div className={classes.panel} style={{ maxHeight: room }}>
            {panel}
          </div>
        )}
      </div>
      {!wide && (
        <Drawer
          opened={Boolean(selected)}
          onClose={() => choose('')}
          position="bottom"
          size="82%"
          title={stepsText.selectedStep}
          padding="md"
        >
          {panel}
          <Button mt="md" fullWidth variant="default" onClick={() => choose('')}>
            {stepsText.backToSteps}
          </Button>
        </Drawer>
      )}
    </section>
  )
}

// The failed step of a failed run that explains it best: the innermost one.
function failedStepOf(run: Run): string {
  if (run.status !== 'failed') return ''
  const failed = run.steps.filter((step) => step.status === 'failed').map((step) => step.nodeId)
  return failed.find((address) => !failed.some((other) => other.startsWith(`${address}[`))) ?? ''
}

// While fully zoomed out, the window follows an active run.
function next(window: Span, whole: Span): Span | null {
  return window.to - window.from >= whole.to - whole.from - 0.5 ? null : window
}

function Tool({
  name,
  off,
  act,
  children,
}: {
  name: string
  off: boolean
  act: () => void
  children: React.ReactNode
}) {
  return (
    <Tooltip label={name}>
      <ActionIcon
        className={classes.tool}
        size={26}
        aria-label={name}
        aria-disabled={off || undefined}
        data-disabled={off || undefined}
        onClick={() => {
          if (!off) act()
        }}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  )
}
