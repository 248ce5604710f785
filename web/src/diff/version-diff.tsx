import { Badge, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { GraphView, TypeIcon } from '../graph'
import { type Content, type FieldChange, graphDiff, isEmpty, type ItemChange, type VersionDiff } from './diff'
import { FieldDiff } from './field-diff'
import classes from './diff.module.css'

type Props = {
  before: Content
  after: Content
  diff: VersionDiff
  /** What the two are called. */ names: [string, string]
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
            label={`Graph of the changes from ${names[0]} to ${names[1]}`}
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
            ? 'Nodes stand elsewhere on the canvas; what runs is the same.'
            : 'Nodes, edges and variables are the same in both.'}
        </Text>
      )}
      <Section title="Nodes" items={diff.nodes} names={names} />
      <Section title="Edges" items={diff.edges} names={names} />
      <Section title="Variables" items={diff.variables} names={names} />
      {diff.other.length > 0 && (
        <Section
          title="The map itself"
          names={names}
          items={[{ id: 'map', kind: 'changed', title: 'Further members', fields: diff.other }]}
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

const words = { added: '+ Added', removed: '− Removed', changed: '~ Changed' } as const
const colors = { added: 'green', removed: 'red', changed: 'amber' } as const

function Mark({ kind }: { kind: ItemChange['kind'] }) {
  return (
    <Badge size="sm" color={colors[kind]}>
      {words[kind]}
    </Badge>
  )
}
