import { Button, SegmentedControl, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { useState } from 'react'
import { JsonView, useUrlStates } from '../../parts'
import { showDuration } from '../../parts/time-words'
import classes from './run-page.module.css'
import { type LogLine, ms, type Run } from './types'
import { runLogText } from '../../text/runs'
import { commonText } from '../../text/common'

const levels = ['debug', 'info', 'warn', 'error']
const some = 300

/** The log of a run, from a minimum level. */
export function RunLog({ run }: { run: Run }) {
  const [{ level }, set] = useUrlStates({ level: 'debug' })
  const least = Math.max(0, levels.indexOf(level))
  const lines = run.logs.filter((line) => levels.indexOf(line.level) >= least || !levels.includes(line.level))
  return (
    <section className={classes.section} aria-labelledby="run-log">
      <div className={classes.sectionHead}>
        <Title order={2} id="run-log">
          {runLogText.log}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={runLogText.minimumLogLevel}
          value={levels[least]}
          onChange={(value) => set({ level: value })}
          data={[
            { value: 'debug', label: commonText.all },
            { value: 'info', label: runLogText.info },
            { value: 'warn', label: runLogText.warnings },
            { value: 'error', label: runLogText.errors },
          ]}
        />
      </div>
      <LogLines lines={lines} start={ms(run.startTime)} label={runLogText.logLinesOfTheRun} linked />
    </section>
  )
}

/** Some lines of a log. With `linked` their steps can be selected. */
export function LogLines({
  lines,
  start,
  label,
  linked = false,
}: {
  lines: LogLine[]
  start: number
  label: string
  linked?: boolean
}) {
  const [most, setMost] = useState(some)
  const [, set] = useUrlStates({ step: '' })
  if (lines.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {runLogText.noLogLines}
      </Text>
    )
  const cut = lines.length - most
  return (
    <div className={classes.log} tabIndex={0} role="region" aria-label={label}>
      {cut > 0 && (
        <Button m={8} variant="default" size="compact-sm" onClick={() => setMost(most + 1000)}>
          {runLogText.showEarlierLinesLines(cut)}
        </Button>
      )}
      <ol className={classes.lines} data-compact={!linked}>
        {lines.slice(Math.max(0, cut)).map((line, index) => (
          <li key={index + Math.max(0, cut)}>
            <time dateTime={line.timestamp} title={line.timestamp}>
              +{showDuration(Math.max(0, ms(line.timestamp) - start))}
            </time>
            <span className={classes.level} data-level={line.level}>
              {line.level === 'error' || line.level === 'warn' ? (
                <IconAlertTriangle size={13} aria-hidden />
              ) : (
                <IconInfoCircle size={13} aria-hidden />
              )}
              {line.level}
            </span>
            <div className={classes.message}>
              {linked && line.nodeId && (
                <button type="button" className={classes.where} onClick={() => set({ step: line.nodeId ?? '' })}>
                  {line.nodeId}
                </button>
              )}
              {line.message}
              {line.data !== undefined && line.data !== null && (
                <JsonView value={line.data} label={runLogText.dataOfTheLogLine} rows={4} plain />
              )}
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}
