import { Drawer, Skeleton, VisuallyHidden } from '@mantine/core'
import { ReactFlowProvider } from '@xyflow/react'
import { useContext, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import { useSignedIn } from '../../api/session'
import { UnappliedTexts, useUnappliedTexts } from '../../forms/unapplied'
import type { NodeType } from '../../graph/node-types'
import type { LastRun } from '../../inspector/types'
import { later } from '../../parts/later'
import { EditorBarContext } from '../blueprints/blueprint-layout'
import { LazyRunDialog } from '../runs/lazy-run-dialog'
import { useRun } from '../runs/use-run'
import type { Config } from '../triggers/types'
import { Catalogue } from './catalogue'
import { draftKey } from './draft'
import { DraftNote } from './draft-note'
import { EditorDialogs } from './editor-dialogs'
import classes from './editor.module.css'
import { GraphArea } from './graph-area'
import { Overlay } from './overlay'
import { expressionsOf } from './references'
import { statusesAt } from './run-statuses'
import { RunStrip } from './run-strip'
import { type PanelTab, SidePanel } from './side-panel'
import { Toolbar } from './toolbar'
import { titleOf } from './trigger-title'
import { placedTexts } from './unapplied-places'
import { useAddress } from './use-address'
import { useCheckedSave } from './use-checked-save'
import { useClipboard } from './use-clipboard'
import { useCommands } from './use-commands'
import { useDraft } from './use-draft'
import { useEditor } from './use-editor'
import { useFollow } from './use-follow'
import { useGuard } from './use-guard'
import { overlaid } from './partial'
import { withPins } from './pins'
import { usePins } from './use-pins'
import { usePart } from './use-part'
import { usePanels } from './use-panels'
import { useRestOfWindow } from './use-rest-of-window'
import { type Blueprint, docOf, useSave } from './use-save'
import { useScreen } from './use-screen'
import { useShortcuts } from './use-shortcuts'
import { useStoredRun } from './use-stored-run'
import { useValidation } from './use-validation'
import { editorText } from '../../text/editor'
import { commonText } from '../../text/common'

const TriggerPanel = later(
  () => import('./trigger-panel'),
  () => <Skeleton h="100%" radius={0} />,
).Component

type Props = { blueprint: Blueprint; types: NodeType[] }

/** The editor of one blueprint. Changes saved by other users while it is open do not change it. */
export function Editor(props: Props) {
  return (
    <ReactFlowProvider>
      <Inside {...props} />
    </ReactFlowProvider>
  )
}

const sheetTitles: Record<PanelTab, string> = {
  node: editorText.node,
  variables: commonText.variables,
  issues: editorText.issues,
}

function Inside({ blueprint, types }: Props) {
  const [start] = useState(() => docOf(blueprint))
  const editor = useEditor(start, blueprint.version, !blueprint.can_manage)
  const { user } = useSignedIn()
  const screen = useScreen()
  const { narrow, tight, small } = screen
  const bar = useContext(EditorBarContext)
  const panels = usePanels(editor, screen)
  const [asking, setAsking] = useState(false)
  const [begun, setBegun] = useState<ReadonlyMap<string, Config>>(new Map())
  const [executionId, setExecutionId] = useState<string>()

  const [unapplied] = useState(() => new UnappliedTexts())
  const texts = useUnappliedTexts(unapplied)
  const pending = useMemo(() => placedTexts(texts.values(), editor.doc), [texts, editor.doc])
  const validation = useValidation(editor.doc, pending)
  const dirty = editor.dirty || pending.length > 0

  const expressions = useMemo(() => expressionsOf(types), [types])
  const commands = useCommands(editor, types, expressions, panels.showCatalogue, (id) =>
    pending.some(({ place, path }) => place !== 'variables' && place.nodeId === id && path[0] !== 'id'),
  )
  const saver = useSave(editor, blueprint)
  const draft = useDraft(editor, draftKey(user.id, blueprint.id))
  const save = useCheckedSave({
    editor,
    pending: pending.length,
    validation,
    save: saver.save,
    onGo: panels.go,
  })
  const run = async () => {
    if (await save()) setAsking(true)
  }

  const live = useRun(executionId)
  const running = live.run?.status === 'running' || live.run?.status === 'paused'
  const stored = useStoredRun(blueprint.id, live.run && !running ? executionId : undefined)
  // The run that was started here is followed until another one is chosen.
  const ownRun = stored.chosen === undefined ? (live.run ?? stored.run) : stored.run
  const [part, setPart] = useState<{ id: string; from: LastRun | undefined; ran: ReadonlySet<string> }>()
  const seenRun = useMemo(
    () => (ownRun && ownRun.id === part?.id ? overlaid(ownRun, part.from, part.ran) : ownRun),
    [ownRun, part],
  )
  const pinned = usePins(blueprint.id, editor.doc.map)
  const lastRun = useMemo(() => withPins(seenRun, pinned.pins), [seenRun, pinned.pins])
  const runPart = usePart(editor, blueprint.id, types, lastRun, pinned.pins, (id, ran) => {
    setPart({ id, from: seenRun, ran })
    setExecutionId(id)
  })
  const { level } = editor.state
  const statuses = useMemo(() => (live.run ? statusesAt(live.run.steps, level) : undefined), [live.run, level])
  // While a part runs, the user looks at its node.
  const follow = useFollow(part !== undefined && part.id === executionId ? undefined : executionId, statuses, commands)

  useAddress(editor)
  useGuard(dirty || begun.size > 0, begun.size > 0 || editor.readOnly ? undefined : save)
  const frame = useRestOfWindow()
  useClipboard({ copy: commands.text, cut: commands.cutText, paste: commands.pasteText })
  useShortcuts({
    save: () => void save(),
    run: blueprint.can_manage ? () => void run() : undefined,
    undo: editor.undo,
    redo: editor.redo,
    help: commands.help,
  })

  const chosen =
    editor.state.nodes.size === 1 ? editor.shown.nodes.find((node) => editor.state.nodes.has(node.id)) : undefined
  const chosenId = chosen?.id
  const { dragged } = panels
  const reveal = useEffectEvent(commands.reveal)
  useEffect(() => {
    if (chosenId !== undefined && !dragged) reveal(chosenId, small)
  }, [chosenId, small, dragged]) // not when the map changes, for example after a run

  const catalogue = (
    <Catalogue
      types={types}
      onAdd={(type) => {
        commands.addType(type)
        panels.added()
      }}
      search={panels.search}
      where={
        chosen
          ? editorText.addAfter(chosen.title || chosen.id)
          : editor.state.edges.size === 1
            ? editorText.addOnTheSelectedEdge
            : editorText.addAtTheEnd
      }
      draggable={!narrow}
      onClose={narrow ? undefined : panels.closePalette}
    />
  )
  const panel = panels.trigger ? (
    <TriggerPanel
      blueprintId={blueprint.id}
      place={panels.trigger}
      onPlace={panels.showTrigger}
      begun={begun}
      onBegun={(key, config) =>
        setBegun((now) => {
          const next = new Map(now)
          if (config) next.set(key, config)
          else next.delete(key)
          return next
        })
      }
      onClose={small ? undefined : panels.close}
    />
  ) : (
    <SidePanel
      editor={editor}
      commands={commands}
      types={types}
      validation={validation}
      tab={panels.tab}
      onTab={panels.setTab}
      onGo={panels.go}
      lastRun={lastRun}
      lastRunLoading={lastRun === undefined && stored.loading}
      runs={stored.runs}
      onRunPart={(id, onward) => void runPart(id, onward)}
      pinned={pinned}
      unapplied={unapplied}
      focus={panels.focus}
      variable={panels.variable}
      onClose={small ? undefined : panels.close}
      onShowNode={panels.showNode}
      organizationId={blueprint.organization_id}
      blueprintId={blueprint.id}
    />
  )
  const toolbar = (
    <Toolbar
      editor={editor}
      commands={commands}
      validation={validation}
      narrow={narrow}
      tight={tight}
      palette={panels.palette}
      onPalette={() => panels.togglePalette()}
      saving={saver.saving}
      dirty={dirty}
      onSave={() => void save()}
      onRun={() => void run()}
      onIssues={() => panels.open('issues')}
      onVariables={() => panels.open('variables')}
    />
  )
  return (
    <div className={classes.editor} ref={frame}>
      {bar ? createPortal(toolbar, bar) : toolbar}
      <GraphArea
        editor={editor}
        blueprintId={blueprint.id}
        commands={commands}
        panels={panels}
        types={types}
        validation={validation}
        statuses={statuses}
        pins={pinned.pins}
        screen={screen}
        title={blueprint.title}
        chosenId={chosenId}
        onLook={follow.release}
      >
        <DraftNote draft={draft} version={blueprint.version} />
        {executionId && <RunStrip live={live} executionId={executionId} onClose={() => setExecutionId(undefined)} />}
      </GraphArea>
      {panels.palette && !narrow && !editor.readOnly && (
        <Overlay id="editor-palette" side="left" label={editorText.nodeTypes} width={232} least={200} most={400}>
          {catalogue}
        </Overlay>
      )}
      {!small && panels.shown && (
        <Overlay id="editor-aside" side="right" label={commonText.settings} width={400} least={320} most={860}>
          {panel}
        </Overlay>
      )}

      <Drawer
        opened={panels.sheet === 'catalogue'}
        onClose={panels.closeSheet}
        position="bottom"
        size="75%"
        title={editorText.addNode}
      >
        {narrow && catalogue}
      </Drawer>
      <Drawer
        opened={panels.sheet === 'panel'}
        onClose={panels.closeSheet}
        position={narrow ? 'bottom' : 'right'}
        size={narrow ? '80%' : 420}
        title={
          panels.trigger ? titleOf(panels.trigger) : (panels.tab === 'node' && chosen?.title) || sheetTitles[panels.tab]
        }
      >
        {small && panel}
      </Drawer>
      <EditorDialogs editor={editor} commands={commands} saver={saver} expressions={expressions} />
      <LazyRunDialog
        blueprintId={asking ? blueprint.id : undefined}
        onClose={() => setAsking(false)}
        onStarted={(id) => {
          setAsking(false)
          setExecutionId(id)
        }}
      />
      <VisuallyHidden role="status" aria-live="polite">
        {editor.said}
      </VisuallyHidden>
    </div>
  )
}
