import { Alert, Button, Group, Tabs, TextInput } from '@mantine/core'
import { IconCopy, IconPlayerPlay, IconPlayerTrackNext, IconTrash } from '@tabler/icons-react'
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import { Frame, Issues } from '../forms/frame'
import { about } from '../forms/frame'
import { SchemaForm } from '../forms/schema-form'
import type { Step } from '../forms/path'
import { usePruneUnapplied } from '../forms/unapplied'
import { UnappliedAt } from '../forms/unapplied-at'
import { under } from '../forms/issues'
import { withMember } from '../forms/values'
import { TypeIcon } from '../graph/type-icon'
import { type MapNode, normalType } from '../graph/map'
import { typeIn } from '../graph/node-types'
import { Behaviour } from './behaviour-section'
import { behaviourKeys } from './behaviour'
import { DataSection } from './data-section'
import { insertPath, TARGETS } from './insert'
import classes from './inspector.module.css'
import { LastRunTab } from './last-run-tab'
import { NodeIdRow } from './node-id-row'
import { codeErrorOf, issuesOfNode } from './node-issues'
import { NodeJsonTab } from './node-json-tab'
import { scopeOf, stepsAt, idOf } from './scope'
import { DocLink } from '../parts/doc-link'
import type { NodeInspectorProps } from './types'
import { nodeInspectorText } from '../text/inspector'
import { commonText } from '../text/common'

/** Everything about one node: its name, its config, how it runs, and the last run. */
export function NodeInspector(props: NodeInspectorProps) {
  const { map, nodeId } = props
  const node = map.nodes.find((one) => one.id === nodeId)
  if (!node) return null
  // Another node gets a new form, so that no incomplete input carries over.
  return <Inspector key={nodeId} {...props} node={node} />
}

function Inspector({
  node,
  map,
  nodeId,
  types,
  variables,
  issues = [],
  readOnly = false,
  onChange,
  onRename,
  onDelete,
  onDuplicate,
  onOpenBody,
  lastRun,
  lastRunLoading,
  runs,
  pin,
  onRun,
  around,
  inputSchema,
  focus,
  organizationId,
  blueprintId,
}: NodeInspectorProps & { node: MapNode }) {
  usePruneUnapplied()
  const [tab, setTab] = useState<string | null>('settings')
  const root = useRef<HTMLDivElement>(null)
  const id = useId()
  const type = typeIn(types, node.type)
  const own = useMemo(() => issuesOfNode(issues, map, nodeId), [issues, map, nodeId])
  const names = useMemo(
    () => scopeOf(map, nodeId, { types, variables, lastRun, around, inputSchema }),
    [map, nodeId, types, variables, lastRun, around, inputSchema],
  )
  const way = useMemo(() => (around ?? []).map((one) => one.nodeId), [around])
  const steps = useMemo(
    () => stepsAt(lastRun, way).filter((step) => idOf(step.nodeId) === nodeId),
    [lastRun, way, nodeId],
  )
  const output = useMemo(() => {
    const done = steps.find((step) => step.status === 'completed')
    return done && { value: done.output, seen: true }
  }, [steps])
  const target = useRef<HTMLTextAreaElement>(null) // the field that was used last
  const insert = (path: Step[]) => {
    const form = root.current?.querySelector('[data-under="config"]')
    const field =
      target.current && form?.contains(target.current)
        ? target.current
        : form?.querySelector<HTMLTextAreaElement>(TARGETS)
    if (field) insertPath(field, path)
  }
  const failed = steps.find((step) => step.status === 'failed' && step.error)
  const failure = normalType(node.type) === 'code' ? failed?.error?.message : undefined
  const codeError = useMemo(() => codeErrorOf(failure), [failure])
  const context = useMemo(
    () => ({ organizationId, blueprintId, codeErrors: codeError ? { source: codeError } : undefined }),
    [organizationId, blueprintId, codeError],
  )
  const set = (key: string, value: unknown) => onChange(withMember(node, key, value) as MapNode)
  const titleIssues = under(own, ['title'])
  const rest = own.filter(
    ({ path: [first] }) => first === undefined || !['title', 'config', 'id', ...behaviourKeys].includes(String(first)),
  )
  const loop = normalType(node.type) === 'for-each'
  const [opened, setOpened] = useState<object>() // the request that opened the section below
  const [followed, setFollowed] = useState<object>()
  if (focus && focus !== followed) {
    setFollowed(focus)
    setTab(focus.path.length === 0 ? 'json' : 'settings')
    if (behaviourKeys.some((key) => key === focus.path[0])) setOpened(focus)
  }

  useEffect(() => {
    if (!focus) return
    const timer = setTimeout(() => root.current && focusField(root.current, focus.path), 60) // once the tab is visible
    return () => clearTimeout(timer)
  }, [focus])

  return (
    <div className={classes.inspector} ref={root}>
      <h2 className={classes.unseen}>{nodeInspectorText.node(node.title || node.id)}</h2>
      <div className={classes.top}>
        <TypeIcon type={node.type} />
        <div className={classes.what}>
          <div className={classes.typeName}>
            {type?.title ?? node.type}
            {type && <code className={classes.typeId}>{type.type}</code>}
          </div>
          <div className={classes.typeText}>
            {type ? (
              <>
                {type.description} <DocLink to={`nodes#${type.type}`} />
              </>
            ) : (
              nodeInspectorText.thisServerDoesNotKnowThis
            )}
          </div>
        </div>
      </div>
      <div className={classes.names}>
        <div data-field="title">
          <Frame id={`${id}-title`} label={commonText.title} issues={titleIssues}>
            <TextInput
              {...about(`${id}-title`, titleIssues)}
              value={node.title}
              readOnly={readOnly}
              styles={readOnly ? { input: { background: 'transparent', borderStyle: 'dashed' } } : undefined}
              onChange={(event) => set('title', event.currentTarget.value)}
            />
          </Frame>
        </div>
        <div data-field="id">
          <NodeIdRow
            id={nodeId}
            taken={map.nodes.map((one) => one.id)}
            issues={under(own, ['id'])}
            onRename={readOnly ? undefined : onRename}
          />
        </div>
      </div>
      <Issues issues={rest} />
      <Tabs value={tab} onChange={setTab} keepMounted={false} className={classes.tabs}>
        <Tabs.List aria-label={nodeInspectorText.views}>
          <Tabs.Tab value="settings">{commonText.settings}</Tabs.Tab>
          <Tabs.Tab value="run">{nodeInspectorText.lastRun}</Tabs.Tab>
          <Tabs.Tab value="json">{commonText.json}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings" pt="sm" keepMounted>
          {loop && onOpenBody && (
            <Alert mb="sm" p="xs" color="gray">
              <Group justify="space-between" gap="xs">
                <span>{bodyWords(node)}</span>
                <Button size="xs" variant="default" onClick={onOpenBody}>
                  {nodeInspectorText.openLoopBody}
                </Button>
              </Group>
            </Alert>
          )}
          <div className={classes.whole}>
            <div className={classes.beside}>
              <div>
                <DataSection
                  names={names}
                  output={output}
                  pin={readOnly ? undefined : pin}
                  runs={runs}
                  onInsert={readOnly ? undefined : insert}
                />
                {onRun && !readOnly && (
                  <Group gap="xs" mb="sm">
                    <Button
                      size="compact-sm"
                      variant="default"
                      leftSection={<IconPlayerPlay size={14} aria-hidden />}
                      onClick={() => onRun(false)}
                    >
                      {nodeInspectorText.runThisNode}
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="default"
                      leftSection={<IconPlayerTrackNext size={14} aria-hidden />}
                      onClick={() => onRun(true)}
                    >
                      {nodeInspectorText.runFromHere}
                    </Button>
                  </Group>
                )}
              </div>
              <div>
                <div
                  data-under="config"
                  onFocus={(event) => {
                    if (event.target.matches(TARGETS)) target.current = event.target as unknown as HTMLTextAreaElement
                  }}
                >
                  <UnappliedAt path={configPath}>
                    {type ? (
                      <SchemaForm
                        schema={type.configSchema}
                        value={node.config}
                        onChange={(config) => set('config', config ?? {})}
                        issues={under(own, ['config'])}
                        complete={names}
                        readOnly={readOnly}
                        context={context}
                        hide={loop ? bodyKeys : undefined}
                      />
                    ) : (
                      <SchemaForm
                        schema={anyObject}
                        value={node.config}
                        onChange={(config) => set('config', config ?? {})}
                        issues={under(own, ['config'])}
                        complete={names}
                        readOnly={readOnly}
                        context={context}
                      />
                    )}
                  </UnappliedAt>
                </div>
                <Behaviour node={node} type={type} issues={own} readOnly={readOnly} onChange={onChange} open={opened} />
              </div>
            </div>
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="run" pt="sm">
          <LastRunTab
            steps={steps}
            title={node.title || node.id}
            there={lastRun !== undefined}
            loading={lastRunLoading}
          />
        </Tabs.Panel>
        <Tabs.Panel value="json" pt="sm" keepMounted>
          <NodeJsonTab node={node} readOnly={readOnly} onApply={onChange} />
        </Tabs.Panel>
      </Tabs>
      {!readOnly && (onDuplicate || onDelete) && (
        <Group gap="xs" className={classes.foot}>
          {onDuplicate && (
            <Button variant="default" size="xs" leftSection={<IconCopy size={15} aria-hidden />} onClick={onDuplicate}>
              {nodeInspectorText.duplicate}
            </Button>
          )}
          {onDelete && (
            <Button
              variant="light"
              color="red"
              size="xs"
              leftSection={<IconTrash size={15} aria-hidden />}
              onClick={onDelete}
            >
              {nodeInspectorText.deleteNode}
            </Button>
          )}
        </Group>
      )}
    </div>
  )
}

const configPath = ['config']
const bodyKeys = ['nodes', 'edges']
const anyObject = { type: 'object', title: nodeInspectorText.config }

function bodyWords(node: MapNode): string {
  if (node.config.blueprintId !== undefined && !Array.isArray(node.config.nodes))
    return nodeInspectorText.runsAnotherBlueprintForEach
  const count = Array.isArray(node.config.nodes) ? node.config.nodes.length : 0
  return count === 0 ? nodeInspectorText.noNodeRunsForTheItems : nodeInspectorText.runsNodesForEachItem(count)
}

// The field of a path, or the nearest one around it.
function focusField(root: HTMLElement, path: readonly (string | number)[]): void {
  for (let length = path.length; length > 0; length--) {
    const [first, ...rest] = path.slice(0, length)
    const under =
      first === 'config'
        ? root.querySelector('[data-under="config"]')
        : (root.querySelector('[data-under="behaviour"]') ?? root)
    const name = first === 'config' ? rest.join('.') : [first, ...rest].join('.')
    const field = (
      name === ''
        ? under
        : (under?.querySelector(`[data-field="${CSS.escape(name)}"]`) ??
          root.querySelector(`[data-field="${CSS.escape(name)}"]`))
    ) as HTMLElement | null
    const control = field?.querySelector<HTMLElement>('input, textarea, select, button')
    if (!control) continue
    control.scrollIntoView({ block: 'center' })
    control.focus()
    return
  }
}
