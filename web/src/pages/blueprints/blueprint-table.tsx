import { Anchor, Badge, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { type Column, DataTable, Stars, StatusBadge, Time } from '../../parts'
import { None } from '../../parts/quantity'
import { BlueprintMenu } from './blueprint-menu'
import classes from './blueprints.module.css'
import { shownTags } from './drafts'
import { RecentRuns } from './recent-runs'
import { FavoriteButton } from './favorite-button'
import { LazyRunDialog } from '../runs/lazy-run-dialog'
import type { Summary } from '../../api/use-blueprint'
import { blueprintTableText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = {
  /** undefined: still loading. */
  rows: Summary[] | undefined
  stale: boolean
  empty: ReactNode
  onTag: (tag: string) => void
}

const mostTags = 4
const longTitle = 120 // characters; longer ones are truncated after three lines

/** One page of the list of blueprints. */
export function BlueprintTable({ rows, stale, empty, onTag }: Props) {
  const [running, setRunning] = useState<string>()
  const menu = (row: Summary) => <BlueprintMenu blueprint={row} open onRun={() => setRunning(row.id)} />
  const columns: Column<Summary>[] = [
    {
      key: 'title',
      title: commonText.title,
      primary: true,
      brief: (row) => row.title,
      render: (row) => (
        <div className={classes.title}>
          <span className={classes.heart}>
            <FavoriteButton id={row.id} title={row.title} on={row.is_favorited} />
          </span>
          <div className={classes.words}>
            <Anchor
              component={Link}
              href={`/blueprints/${row.id}/edit`}
              fw={600}
              className={classes.name}
              title={row.title.length > longTitle ? row.title : undefined}
            >
              {row.title}
            </Anchor>
            {row.description && (
              <Text size="xs" c="dimmed" fw={400} lineClamp={1}>
                {row.description}
              </Text>
            )}
            <Labels row={row} onTag={onTag} />
          </div>
          <span className={classes.phoneMenu}>{menu(row)}</span>
        </div>
      ),
    },
    {
      key: 'status',
      title: commonText.status,
      width: '175px',
      render: (row) => (
        <span className={classes.pair}>
          <StatusBadge status={row.status} />
          <Text size="xs" c="dimmed" component="span" title={commonText.version}>
            {blueprintTableText.v(row.version)}
          </Text>
        </span>
      ),
    },
    {
      key: 'nodes',
      title: commonText.nodes,
      width: '60px',
      align: 'end',
      wideOnly: 'very',
      render: (row) => row.node_count?.toLocaleString('en') ?? <None />,
    },
    { key: 'triggers', title: commonText.triggers, width: '100px', render: (row) => <Triggers row={row} /> },
    { key: 'run', title: blueprintTableText.lastRun, width: '210px', render: (row) => <LastRun row={row} /> },
    ...(rows?.some((row) => row.rating_count > 0)
      ? [
          {
            key: 'rating',
            title: blueprintTableText.rating,
            width: '115px',
            wideOnly: 'very' as const,
            render: (row: Summary) =>
              row.rating_count > 0 ? (
                <Stars value={row.average_rating} count={row.rating_count} />
              ) : (
                <None word={blueprintTableText.noRatings} />
              ),
          },
        ]
      : []),
    {
      key: 'updated',
      title: commonText.updated,
      width: '125px',
      wideOnly: true,
      render: (row) => (
        <Text size="sm" c="dimmed" component="span" style={{ whiteSpace: 'nowrap' }}>
          <Time at={row.updated_at} />
        </Text>
      ),
    },
    { key: 'menu', title: '', name: commonText.actions, width: '52px', wideOnly: true, render: menu },
  ]
  return (
    <>
      <DataTable
        caption={commonText.blueprints}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        stale={stale}
        empty={empty}
        skeletonRows={10}
      />
      <LazyRunDialog blueprintId={running} onClose={() => setRunning(undefined)} />
    </>
  )
}

function Labels({ row, onTag }: { row: Summary; onTag: (tag: string) => void }) {
  const tags = shownTags(row.tags)
  const rest = tags.length - mostTags
  return (
    <span className={classes.labels}>
      {!row.is_owner && (
        <Text size="xs" c="dimmed" component="span">
          {blueprintTableText.by(row.creator_name || blueprintTableText.aFormerUser)}
        </Text>
      )}
      {row.visibility === 'public' && (
        <Badge size="sm" color="violet">
          {commonText.public}
        </Badge>
      )}
      {row.categories.map(({ id, name }) => (
        <Badge key={id} size="sm" color="petrol">
          {name}
        </Badge>
      ))}
      {tags.slice(0, mostTags).map((tag) => (
        <button
          key={tag}
          type="button"
          className={classes.tag}
          aria-label={blueprintTableText.showOnlyTag(tag)}
          onClick={() => onTag(tag)}
        >
          {tag}
        </button>
      ))}
      {rest > 0 && (
        <Text size="xs" c="dimmed" component="span" title={tags.slice(mostTags).join(', ')}>
          {blueprintTableText.more(rest)}
        </Text>
      )}
    </span>
  )
}

function Triggers({ row: { id, triggers } }: { row: Summary }) {
  if (triggers.total === 0) return <None word={blueprintTableText.noTriggers} />
  const off = triggers.total - triggers.active
  return (
    <Anchor
      component={Link}
      href={`/blueprints/${id}/triggers`}
      size="sm"
      title={blueprintTableText.activeTriggersPaused(triggers.active, off)}
    >
      {blueprintTableText.active(triggers.active)}
      {off > 0 && (
        <Text span inherit c="dimmed">
          {blueprintTableText.paused(off)}
        </Text>
      )}
    </Anchor>
  )
}

function LastRun({ row }: { row: Summary }) {
  const run = row.last_run
  if (!run)
    return (
      <Text size="sm" c="dimmed" component="span">
        {blueprintTableText.neverRan}
      </Text>
    )
  return (
    <span className={classes.runs}>
      <Link href={`/runs/${run.executionId}`} className={classes.run}>
        <StatusBadge status={run.status} />
        <Text size="xs" c="dimmed" component="span">
          <Time at={run.endTime ?? run.startTime} none={blueprintTableText.notStarted} />
        </Text>
      </Link>
      <RecentRuns of={row} />
    </span>
  )
}
