import { Badge, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { GraphView, TypeIcon } from '../graph'
import { type Content, type FieldChange, graphDiff, isEmpty, type ItemChange, type VersionDiff } from './diff'
import { FieldDiff } from './field-diff'
import classes from './diff.module.css'
import { versionDiffText } from '../text/diff'
import { commonText } from '../text/common'

type Props = {
  before: Content
  after: Content
  diff: VersionDiff
  /** The names of the two versions. */ names: [string, string]
}

/** Two versions compared: on the graph, and field by field. */
export function VersionDiffView({ before, after, diff, names }: Props) {
  const { map, marks } = useMemo(
    () => graphDiff(before.blueprint_map, after.blueprint_map, diff),
    [before, after, diff],
  )
  return (
    <>
      {map.nodes.length > 0 && (
        <div className={classes.graph}>
          <GraphView
            key={names.join()}
            map={map}
            diff={marks}
            height={320}
            label={versionDiffText.changesFromTo(names[0], names[1])}
          />
          <div className={classes.legend}>
            <Mark kind="added" />
            <Mark kind="changed" />
            <Mark kind="removed" />
          </div>
        </div>
      )}
      {isEmpty(diff) && (
        <Text size="sm" mt="md">
          {diff.moved.length > 0
            ? versionDiffText.onlyNodePositionsChangedThe
            : versionDiffText.nodesEdgesAndVariablesAreThe}
        </Text>
      )}
      <Section title={commonText.nodes} items={diff.nodes} names={names} />
      <Section title={commonText.edges} items={diff.edges} names={names} />
      <Section title={commonText.variables} items={diff.variables} names={names} />
      {diff.other.length > 0 && (
        <Section
          title={versionDiffText.otherSettings}
          names={names}
          items={[{ id: 'map', kind: 'changed', title: versionDiffText.otherFields, fields: diff.other }]}
        />
      )}
    </>
  )
}

function Section({ title, items, names }: { title: string; items: ItemChange[]; names: [string, string] }) {
  if (items.length === 0) return null
  return (
    <section aria-label={title}>
      <Title order={3} size="h4" mt="lg" mb={8}>
        {title}
      </Title>
      {items.map((item) => (
        <Item key={`${item.kind} ${item.id}`} item={item} names={names} />
      ))}
    </section>
  )
}

function Item({ item, names }: { item: ItemChange; names: [string, string] }) {
  const head = (
    <>
      <Mark kind={item.kind} />
      {item.type !== undefined && <TypeIcon type={item.type} size={24} />}
      <Text fw={600} size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
        {item.title}
      </Text>
      {item.type !== undefined && (
        <Text size="xs" c="dimmed" component="span" style={{ overflowWrap: 'anywhere' }}>
          {item.type} · {item.id}
        </Text>
      )}
    </>
  )
  if (item.fields.length === 0)
    return (
      <div className={classes.item}>
        <div className={classes.itemHead}>{head}</div>
      </div>
    )
  return (
    <details className={classes.item} open={item.kind === 'changed'}>
      <summary className={classes.itemHead}>{head}</summary>
      <div className={classes.fields}>
        {item.fields.map((change) => (
          <Field key={JSON.stringify(change.path)} change={change} names={names} kind={item.kind} />
        ))}
      </div>
    </details>
  )
}

function Field({ change, names, kind }: { change: FieldChange; names: [string, string]; kind: ItemChange['kind'] }) {
  return <FieldDiff change={change} names={names} only={kind === 'changed' ? undefined : kind} />
}

const words = {
  added: versionDiffText.added,
  removed: versionDiffText.removed,
  changed: versionDiffText.changed,
} as const
const colors = { added: 'green', removed: 'red', changed: 'amber' } as const

function Mark({ kind }: { kind: ItemChange['kind'] }) {
  return (
    <Badge size="sm" color={colors[kind]}>
      {words[kind]}
    </Badge>
  )
}
