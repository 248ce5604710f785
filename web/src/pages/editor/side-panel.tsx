import { CloseButton, SegmentedControl, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { FormIssue } from '../../forms/types'
import { UnappliedContext, type UnappliedTexts } from '../../forms/unapplied'
import { NodeInspector, VariablesEditor } from '../../inspector'
import type { LastRun, RunChoice } from '../../inspector/types'
import type { MapNode } from '../../graph/map'
import classes from './editor.module.css'
import { IssuesPanel } from './issues-panel'
import { mapAt } from './nested'
import type { Commands } from './use-commands'
import type { Editor } from './use-editor'
import type { usePins } from './use-pins'
import type { NodeType } from '../../graph/node-types'
import type { EditorState } from './state'
import { isUnfilled, type Located, type Validation } from './use-validation'
import { sidePanelText } from '../../text/editor'
import { commonText } from '../../text/common'

/** The content of the panel beside the canvas. */
export type PanelTab = 'node' | 'variables' | 'issues'

type Props = {
  editor: Editor
  commands: Commands
  types: NodeType[]
  validation: Validation
  tab: PanelTab
  onTab: (tab: PanelTab) => void
  /** Closes the panel; without it there is no button. */
  onClose?: () => void
  onGo: (issue: Located) => void
  lastRun?: LastRun
  lastRunLoading?: boolean
  runs: RunChoice
  /** Runs a node, or with `onward` also the nodes after it. */
  onRunPart: (id: string, onward: boolean) => void
  pinned: ReturnType<typeof usePins>
  /** The unapplied texts of its fields. */
  unapplied: UnappliedTexts
  focus?: { path: readonly (string | number)[] }
  /** The variable to open. */
  variable?: { index: number }
  onShowNode: (node: MapNode) => void
  organizationId: string
  blueprintId: string
}

/** The settings of the selected node, the variables, and the issues. */
export function SidePanel({ tab, onTab, onClose, validation, ...props }: Props) {
  const count = validation.errors + validation.warnings
  return (
    <>
      <div className={classes.tabs}>
        <SegmentedControl
          className={classes.choice}
          fullWidth
          size="xs"
          value={tab}
          onChange={(value) => onTab(value as PanelTab)}
          aria-label={sidePanelText.panel}
          data={[
            { value: 'node', label: sidePanelText.node },
            { value: 'variables', label: commonText.variables },
            { value: 'issues', label: count > 0 ? sidePanelText.issues(count) : sidePanelText.issues2 },
          ]}
        />
        {onClose && <CloseButton size="sm" aria-label={sidePanelText.closePanel} onClick={onClose} />}
      </div>
      <div className={classes.inside} id="editor-panel">
        <Inside tab={tab} validation={validation} {...props} />
      </div>
    </>
  )
}

function Inside({
  editor,
  commands,
  types,
  validation,
  tab,
  onGo,
  lastRun,
  lastRunLoading,
  runs,
  onRunPart,
  pinned,
  unapplied,
  focus,
  variable,
  onShowNode,
  organizationId,
  blueprintId,
}: Omit<Props, 'onTab' | 'onClose'>) {
  const { shown, state, readOnly } = editor
  const id = state.nodes.size === 1 ? [...state.nodes][0]! : undefined
  const node = shown.nodes.find((each) => each.id === id)
  const level = state.level.join('\n')
  const issues = useMemo(() => issuesOf(validation.issues, state, id), [validation.issues, state, id])
  const faults = useMemo<FormIssue[]>(
    () =>
      validation.issues
        .filter((issue) => issue.variable !== undefined && !issue.unapplied)
        .map(({ path, message, severity }) => ({ path: path.slice(1), message, severity })),
    [validation.issues],
  )
  const around = useMemo(
    () => state.level.map((nodeId, index) => ({ map: mapAt(editor.doc.map, state.level.slice(0, index))!, nodeId })),
    [editor.doc.map, state.level],
  )
  const place = JSON.stringify(tab === 'variables' ? 'variables' : { level: state.level, nodeId: id })
  const scope = useMemo(() => ({ texts: unapplied, place: JSON.parse(place) as unknown, path: [] }), [unapplied, place])
  if (tab === 'issues') return <IssuesPanel validation={validation} onGo={onGo} />
  if (tab === 'variables')
    return (
      <UnappliedContext value={scope}>
        <VariablesEditor
          variables={editor.doc.variables}
          onChange={editor.variables}
          issues={faults}
          readOnly={readOnly}
          map={editor.doc.map}
          types={types}
          onShowNode={onShowNode}
          focus={variable}
        />
      </UnappliedContext>
    )
  if (!node) {
    return (
      <Text className={classes.hint}>
        {state.nodes.size > 1
          ? sidePanelText.nodesSelectedSelectOneToSee(state.nodes.size)
          : sidePanelText.selectANodeToSeeIts}
      </Text>
    )
  }
  return (
    <UnappliedContext value={scope}>
      <NodeInspector
        key={`${level} ${node.id}`}
        map={shown}
        nodeId={node.id}
        types={types}
        variables={editor.doc.variables}
        issues={issues}
        readOnly={readOnly}
        around={around}
        lastRun={lastRun}
        lastRunLoading={lastRunLoading}
        runs={runs}
        pin={
          state.level.length > 0
            ? undefined
            : {
                on: Object.hasOwn(pinned.pins, node.id),
                toggle: (output) =>
                  Object.hasOwn(pinned.pins, node.id) ? pinned.unpin(node.id) : pinned.pin(node.id, output),
              }
        }
        onRun={state.level.length === 0 ? (onward) => onRunPart(node.id, onward) : undefined}
        focus={focus}
        organizationId={organizationId}
        blueprintId={blueprintId}
        onChange={(next) => commands.set(node.id, next)}
        onRename={readOnly ? undefined : (to) => commands.renameTo(node.id, to)}
        onDelete={readOnly ? undefined : commands.remove}
        onDuplicate={readOnly ? undefined : commands.duplicate}
        onOpenBody={() => void commands.open(node.id)}
      />
    </UnappliedContext>
  )
}

// The paths of a node's form start at the node.
function issuesOf(issues: Located[], state: EditorState, id: string | undefined): FormIssue[] {
  const { level } = state
  return issues
    .filter(
      (issue) =>
        issue.variable === undefined &&
        !issue.unapplied &&
        issue.edge === undefined &&
        issue.nodeId === id &&
        issue.level.length === level.length &&
        issue.level.every((each, index) => each === level[index]),
    )
    .map((issue) =>
      isUnfilled(issue, state)
        ? { path: issue.field, message: sidePanelText.notFilledInYet, severity: 'unfilled' }
        : { path: issue.field, message: issue.message, severity: issue.severity },
    )
}
