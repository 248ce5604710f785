import { Alert, Anchor, Button, Chip, Select, Skeleton, Stack, Text, Title } from '@mantine/core'
import '@mantine/core/styles/Chip.layer.css'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link, useParams } from 'wouter'
import { api } from '../../api/client'
import { FieldDiff } from '../../diff/field-diff'
import { fieldChanges } from '../../diff/diff'
import { TypeIcon } from '../../graph'
import { Duration, EmptyState, ErrorNote, PageHeader, StatusBadge, Time, useUrlStates } from '../../parts'
import { showAbsolute, showDuration } from '../../parts/time-words'
import classes from './compare.module.css'
import { pairSteps, type StepPair } from './compare-steps'
import type { ListedRun } from './run-pages'
import { lookOf } from './status-look'
import { ms, type Run, type Step } from './types'
import { useLastGood } from './use-last-good'
import { useRun } from './use-run'
import { type RunFacts, useRunFacts } from './use-run-facts'
import { commonText } from '../../text/common'
import { comparePageText } from '../../text/runs'

/** A run beside another one of the same blueprint: versions, input, result and steps. */
export default function ComparePage() {
  const { id = '' } = useParams<{ id: string }>()
  return <Comparison key={id} id={id} />
}

function Comparison({ id }: { id: string }) {
  const [{ with: chosen }, set] = useUrlStates({ with: '' })
  const { run, phase, error, again } = useRun(id)
  const facts = useRunFacts(id, run?.status)
  const { good, ...search } = useLastGood(facts.listed)
  const other = chosen || good?.executionId
  const title = facts.listed?.blueprintTitle ?? commonText.run
  const crumbs = [
    { title: commonText.runs, href: '/runs' },
    { title, href: `/runs/${id}` },
  ]
  const header = (
    <PageHeader
      title={comparePageText.compareRuns}
      documentTitle={comparePageText.compareRunsOf(title)}
      breadcrumbs={crumbs}
    />
  )
  if (phase === 'missing' || facts.listed === null)
    return (
      <>
        {header}
        <EmptyState
          icon={<IconArrowsDiff />}
          title={comparePageText.runNotFound}
          text={comparePageText.itMayBeDeletedOrYouCannot}
          action={
            <Button component={Link} href="/runs">
              {comparePageText.allRuns}
            </Button>
          }
        />
      </>
    )
  if (!run || !facts.listed || facts.record === undefined || (!chosen && good === undefined))
    return (
      <>
        {header}
        {error ? (
          <ErrorNote error={error} title={comparePageText.couldNotLoadTheRun} onRetry={again} />
        ) : search.error && !chosen ? (
          <ErrorNote error={search.error} title={comparePageText.couldNotFindACompletedRun} onRetry={search.again} />
        ) : (
          <Loading />
        )}
      </>
    )
  return (
    <>
      {header}
      <Picker listed={facts.listed} other={other ?? null} onChange={(value) => set({ with: value })} />
      {other ? (
        <Sides key={other} id={other} after={run} afterFacts={facts} />
      ) : (
        <EmptyState
          icon={<IconArrowsDiff />}
          title={comparePageText.noEarlierCompletedRun}
          text={comparePageText.chooseAnotherRunOf}
        />
      )}
    </>
  )
}

function Loading() {
  return (
    <Stack aria-busy="true">
      <Skeleton h={90} />
      <Skeleton h={240} />
    </Stack>
  )
}

const offered = 50

function Picker({
  listed,
  other,
  onChange,
}: {
  listed: ListedRun
  other: string | null
  onChange: (id: string) => void
}) {
  const { blueprintId, executionId } = listed
  const runs = useQuery({
    queryKey: ['runs', 'of', blueprintId, 'to compare'],
    queryFn: () => api.execution.listRuns.query({ blueprintId, limit: offered }),
    retry: false,
  })
  const data = (runs.data?.runs ?? [])
    .filter((run) => run.executionId !== executionId)
    .map((run) => ({ value: run.executionId, label: nameOfRun(run) }))
  if (other && !data.some(({ value }) => value === other))
    data.unshift({ value: other, label: comparePageText.run(other.slice(-8)) })
  return (
    <Select
      label={comparePageText.compareWith}
      placeholder={comparePageText.chooseARun}
      data={data}
      value={other}
      onChange={(value) => value && onChange(value)}
      searchable
      allowDeselect={false}
      nothingFoundMessage={comparePageText.noRunsFound}
      maw={560}
      mb="md"
    />
  )
}

function nameOfRun(run: ListedRun): string {
  const at = run.startTime ? showAbsolute(new Date(run.startTime)) : ''
  return [at, lookOf(run.status).word, `v${run.blueprintVersion}`, `…${run.executionId.slice(-8)}`].join(' · ')
}

function Sides({ id, after, afterFacts }: { id: string; after: Run; afterFacts: RunFacts }) {
  const { run: before, phase, error, again } = useRun(id)
  const facts = useRunFacts(id, before?.status)
  if (phase === 'missing' || facts.listed === null)
    return <Alert color="amber">{comparePageText.itMayBeDeletedOrYouCannot}</Alert>
  if (!before || !facts.listed || facts.record === undefined)
    return error ? <ErrorNote error={error} title={comparePageText.couldNotLoadTheRun} onRetry={again} /> : <Loading />
  const [one, two] = [facts.listed, afterFacts.listed!]
  return (
    <>
      <div className={classes.sides}>
        <Side title={comparePageText.otherRun} run={before} listed={one} />
        <Side title={comparePageText.thisRun} run={after} listed={two} />
      </div>
      {one.blueprintId !== two.blueprintId ? (
        <Alert color="amber" mb="md">
          {comparePageText.theRunsAreOfDifferentBlueprints}
        </Alert>
      ) : (
        <Versions one={one} two={two} />
      )}
      <Data title={commonText.input} before={inputOf(facts)} after={inputOf(afterFacts)} />
      <Data title={comparePageText.result} before={resultOf(before, facts)} after={resultOf(after, afterFacts)} />
      <Steps before={before} after={after} />
    </>
  )
}

function Side({ title, run, listed }: { title: string; run: Run; listed: ListedRun }) {
  const length = ms(run.endTime) - ms(run.startTime)
  return (
    <section className={classes.side} aria-label={title}>
      <div className={classes.sideHead}>
        <Title order={2} size="h4">
          {title}
        </Title>
        <StatusBadge status={run.status} size="sm" />
      </div>
      <Text size="sm">
        <Anchor component={Link} href={`/runs/${run.id}`} inherit>
          {comparePageText.run(run.id.slice(-8))}
        </Anchor>
        {` · ${comparePageText.version(listed.blueprintVersion)} · `}
        <Time at={run.startTime} past />
        {Number.isFinite(length) && (
          <>
            {' · '}
            <Duration ms={length} />
          </>
        )}
      </Text>
      {listed.error && (
        <Text size="sm" className={classes.error}>
          {listed.error}
        </Text>
      )}
    </section>
  )
}

function Versions({ one, two }: { one: ListedRun; two: ListedRun }) {
  const [from, to] = [one.blueprintVersion, two.blueprintVersion]
  if (from === to)
    return (
      <Text size="sm" c="dimmed" mb="md">
        {comparePageText.bothRanVersion(from)}
      </Text>
    )
  const query = new URLSearchParams({ from, to })
  return (
    <Text size="sm" mb="md" className={classes.versions}>
      {comparePageText.versionChanged(from, to)}{' '}
      <Anchor component={Link} href={`/blueprints/${two.blueprintId}/versions?${query}`} inherit>
        {comparePageText.compareTheVersions}
      </Anchor>
    </Text>
  )
}

function inputOf({ record }: RunFacts): unknown {
  if (!record) return undefined
  return Object.keys(record.inputVariables).length > 0
    ? { input: record.inputData, variables: record.inputVariables }
    : { input: record.inputData }
}

function resultOf(run: Run, { record, listed }: RunFacts): unknown {
  return run.status === 'completed' ? record?.outputSummary.output : (listed?.error ?? undefined)
}

const names: [string, string] = [comparePageText.otherRun, comparePageText.thisRun]

function Data({ title, before, after }: { title: string; before: unknown; after: unknown }) {
  const changes = useMemo(() => fieldChanges(before, after), [before, after])
  return (
    <section className={classes.section} aria-label={title}>
      <Title order={2} size="h3">
        {title}
      </Title>
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          {comparePageText.noDifference}
        </Text>
      ) : (
        changes.map((change) => <FieldDiff key={JSON.stringify(change.path)} change={change} names={names} />)
      )}
    </section>
  )
}

const some = 100

function Steps({ before, after }: { before: Run; after: Run }) {
  const pairs = useMemo(() => pairSteps(before, after), [before, after])
  const different = pairs.filter((pair) => pair.differs)
  const [all, setAll] = useState(false)
  const [most, setMost] = useState(some)
  const listed = all ? pairs : different
  return (
    <section className={classes.section} aria-labelledby="compared-steps">
      <div className={classes.head}>
        <Title order={2} size="h3" id="compared-steps">
          {commonText.steps}
        </Title>
        {pairs.length > different.length && (
          <Chip size="xs" checked={all} onChange={setAll}>
            {comparePageText.showEqualSteps(pairs.length - different.length)}
          </Chip>
        )}
      </div>
      {listed.length === 0 && (
        <Text size="sm" c="dimmed">
          {comparePageText.allStepsAreEqual}
        </Text>
      )}
      {listed.slice(0, most).map((pair, index) => (
        <Pair key={pair.address} pair={pair} open={index < 3} />
      ))}
      {listed.length > most && (
        <Button variant="default" onClick={() => setMost(most + some)}>
          {comparePageText.showMoreLeft((listed.length - most).toLocaleString('en'))}
        </Button>
      )}
    </section>
  )
}

function Pair({ pair, open }: { pair: StepPair; open: boolean }) {
  const head = (
    <>
      <TypeIcon type={pair.nodeType} size={24} />
      <span className={classes.name}>
        <strong>{pair.title}</strong> <span className={classes.address}>{pair.address}</span>
      </span>
      <span className={classes.change}>
        <State step={pair.before} />
        <span aria-label={comparePageText.to}>→</span>
        <State step={pair.after} />
      </span>
    </>
  )
  if (pair.fields.length === 0)
    return (
      <div className={classes.pair}>
        <div className={classes.pairHead}>{head}</div>
      </div>
    )
  return (
    <details className={classes.pair} open={open}>
      <summary className={classes.pairHead}>{head}</summary>
      <div className={classes.fields}>
        {pair.fields.map((change) => (
          <FieldDiff key={JSON.stringify(change.path)} change={change} names={names} />
        ))}
      </div>
    </details>
  )
}

function State({ step }: { step?: Step }) {
  const { icon: Icon, word } = lookOf(step?.status ?? '')
  if (!step) return <span className={classes.state}>{comparePageText.noSuchStep}</span>
  return (
    <span className={classes.state} data-status={step.status}>
      <Icon size={15} aria-hidden /> {word}
      {step.durationMs !== null && ` ${showDuration(step.durationMs)}`}
    </span>
  )
}
