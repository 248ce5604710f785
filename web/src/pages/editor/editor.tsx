import { Alert, Anchor, Button, Drawer, Group, VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconHistory, IconSchema } from '@tabler/icons-react'
import { ReactFlowProvider, type Viewport } from '@xyflow/react'
import { lazy, Suspense, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useSignedIn } from '../../api/session'
import { UnappliedTexts, useUnappliedTexts } from '../../forms/unapplied'
import { EmptyState, Time } from '../../parts'
import { useRun } from '../runs/use-run'
import { Canvas } from './canvas'
import { canvasKey } from './canvas-keys'
import { Catalogue } from './catalogue'
import { ConflictDialog } from './conflict-dialog'
import { ConnectDialog } from './connect-dialog'
import { draftKey } from './draft'
import type { MapNode } from '../../graph/map'
import { levelsOf, mapAt } from './nested'
import { same } from './same'
import classes from './editor.module.css'
import { FirstEdgeDialog } from './first-edge-dialog'
import { HelpDialog } from './help-dialog'
import { applyFocused } from './apply-focused'
import { PasteDialog } from './paste-dialog'
import { refuse } from './refuse'
import { RenameDialog } from './rename-dialog'
import { RunStrip } from './run-strip'
import { statusesAt } from './run-statuses'
import { SelectionBar } from './selection-bar'
import { type PanelTab, SidePanel } from './side-panel'
import { Toolbar } from './toolbar'
import { useAddress } from './use-address'
import { isElsewhere, useClipboard } from './use-clipboard'
import { useCommands } from './use-commands'
import { useDraft } from './use-draft'
import { useEditor } from './use-editor'
import { useFollow } from './use-follow'
import { useGuard } from './use-guard'
import type { NodeType } from '../../graph/node-types'
import { expressionsOf } from './references'
import { useRestOfWindow } from './use-rest-of-window'
import { type Blueprint, docOf, useSave } from './use-save'
import { useStoredRun } from './use-stored-run'
import { placedTexts } from './unapplied-places'
import { type Located, problemsAt, useValidation } from './use-validation'

const RunDialog = lazy(() => import('../runs/run-dialog').then((module) => ({ default: module.RunDialog })))

type Props = { blueprint: Blueprint; types: NodeType[] }

/** The editor of one blueprint. What is saved by others while it is open does not change it. */
export function Editor(props: Props) {
  return (
    <ReactFlowProvider>
      <Inside {...props} />
    </ReactFlowProvider>
  )
}

function Inside({ blueprint, types }: Props) {
  const [start] = useState(() => docOf(blueprint))
  const editor = useEditor(start, blueprint.version, !blueprint.can_manage)
  const { user } = useSignedIn()
  const narrow = useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false }) ?? false
  const folded = useMediaQuery('(max-width: 76em)', undefined, { getInitialValueInEffect: false }) ?? false
  const small = useMediaQuery('(max-width: 68em)', undefined, { getInitialValueInEffect: false }) ?? false
  const [tab, setTab] = useState<PanelTab>('node')
  const [sheet, setSheet] = useState<'catalogue' | 'panel'>()
  const [focus, setFocus] = useState<{ path: (string | number)[] }>()
  const [variable, setVariable] = useState<{ index: number }>()
  const [asking, setAsking] = useState(false)
  const [executionId, setExecutionId] = useState<string>()
  const search = useRef<HTMLInputElement>(null)
  const [views] = useState(() => new Map<string, Viewport>())
  const [unapplied] = useState(() => new UnappliedTexts())
  const texts = useUnappliedTexts(unapplied)
  const pending = useMemo(() => placedTexts(texts.values(), editor.doc), [texts, editor.doc])
  const validation = useValidation(editor.doc, pending)
  const dirty = editor.dirty || pending.length > 0
  const expressions = useMemo(() => expressionsOf(types), [types])
  const showCatalogue = () => {
    if (folded) setSheet('catalogue')
    else search.current?.focus()
  }
  const commands = useCommands(editor, types, expressions, showCatalogue, (id) =>
    pending.some(({ place, path }) => place !== 'variables' && place.nodeId === id && path[0] !== 'id'),
  )
  const saver = useSave(editor, blueprint)
  const draft = useDraft(editor, draftKey(user.id, blueprint.id))
  const live = useRun(executionId)
  const stored = useStoredRun(blueprint.id)
  const lastRun = live.run ?? stored.run
  useAddress(editor)
  useGuard(dirty)
  const frame = useRestOfWindow()
  useClipboard({ copy: commands.text, cut: commands.cutText, paste: commands.pasteText })

  const level = editor.state.level
  const problems = useMemo(() => problemsAt(validation.issues, level), [validation.issues, level])
  const statuses = useMemo(() => (live.run ? statusesAt(live.run.steps, level) : undefined), [live.run, level])
  const follow = useFollow(executionId, statuses, commands)
  const openPanel = (wanted: PanelTab) => {
    setTab(wanted)
    if (small) setSheet('panel')
    else
      setTimeout(() =>
        document
          .querySelector<HTMLElement>('#editor-panel :is(input, textarea, button, select, [tabindex="0"])')
          ?.focus(),
      )
  }
  const go = (issue: Located) => {
    if (issue.variable !== undefined) {
      setVariable({ index: issue.variable })
      return openPanel('variables')
    }
    editor.enter(issue.level, issue.nodeId === undefined ? [] : [issue.nodeId])
    if (issue.nodeId === undefined) return
    setFocus({ path: issue.field })
    setTab('node')
    if (small) setSheet('panel')
  }
  const latest = useRef({ pending, validation })
  useLayoutEffect(() => {
    latest.current = { pending, validation }
  })
  const save = async (): Promise<boolean> => {
    applyFocused()
    const [first] = latest.current.pending
    if (!first || editor.readOnly) return saver.save()
    const issue = latest.current.validation.issues.find((each) => each.unapplied)
    refuse('Not saved: a field holds text that is not applied. Fix it, then save again.')
    if (issue) go(issue)
    return false
  }
  const run = async () => {
    if (await save()) setAsking(true)
  }
  const pick = (type: NodeType) => {
    commands.addType(type)
    setSheet(undefined)
    setTab('node')
  }
  const keys = useRef<(event: KeyboardEvent) => void>(undefined)
  useEffect(() => {
    keys.current = (event) => {
      const key = event.key.toLowerCase()
      const elsewhere = isElsewhere(event.target)
      const inDialog = event.target instanceof HTMLElement && event.target.closest('[role=dialog]') !== null
      const act = (then: () => void) => {
        event.preventDefault()
        then()
      }
      if (event.ctrlKey || event.metaKey) {
        if (key === 's') act(() => void save())
        else if (key === 'enter' && !inDialog && blueprint.can_manage) act(() => void run())
        else if (elsewhere) return
        else if (key === 'z') act(event.shiftKey ? editor.redo : editor.undo)
        else if (key === 'y') act(editor.redo)
      } else if (event.key === '?' && !elsewhere) act(commands.help)
    }
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => keys.current?.(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])

  const after =
    editor.state.nodes.size === 1 ? editor.shown.nodes.find((node) => editor.state.nodes.has(node.id)) : undefined
  const where = after
    ? `after ${after.title || after.id}`
    : editor.state.edges.size === 1
      ? 'into the chosen edge'
      : 'at the end'
  const shownPanel = tab !== 'node' || editor.state.nodes.size > 0
  const closePanel = () => {
    setTab('node')
    editor.select([])
  }
  // Where a node stands that somebody wants to see: the map tells nodes apart by what they are.
  const levelOf = (node: MapNode) =>
    levelsOf(editor.doc.map).find((each) =>
      mapAt(editor.doc.map, each)!.nodes.some((one) => one === node || same(one, node)),
    ) ?? []
  const chosenId = after?.id
  const reveal = useEffectEvent(commands.reveal)
  useEffect(() => {
    if (chosenId !== undefined) reveal(chosenId, small)
  }, [chosenId, small]) // only when another node is chosen
  const catalogue = <Catalogue types={types} onAdd={pick} search={search} where={where} draggable={!folded} />
  const panel = (
    <SidePanel
      editor={editor}
      commands={commands}
      types={types}
      validation={validation}
      tab={tab}
      onTab={setTab}
      onGo={go}
      lastRun={lastRun}
      lastRunLoading={lastRun === undefined && stored.loading}
      unapplied={unapplied}
      focus={focus}
      variable={variable}
      onClose={small ? undefined : closePanel}
      onShowNode={(node) => {
        editor.enter(levelOf(node), [node.id])
        setTab('node')
      }}
      organizationId={blueprint.organization_id}
      blueprintId={blueprint.id}
    />
  )
  return (
    <div className={classes.editor} ref={frame}>
      <Toolbar
        editor={editor}
        commands={commands}
        validation={validation}
        narrow={narrow}
        folded={folded}
        saving={saver.saving}
        dirty={dirty}
        onSave={() => void save()}
        onRun={() => void run()}
        onIssues={() => openPanel('issues')}
        onVariables={() => openPanel('variables')}
      />
      {!folded && !editor.readOnly && (
        <aside className={classes.left} aria-label="Node types">
          {catalogue}
        </aside>
      )}
      <section className={classes.middle} aria-label="Graph">
        <Canvas
          key={JSON.stringify(level)}
          editor={editor}
          views={views}
          problems={problems}
          statuses={statuses}
          wide={!narrow}
          onConnect={commands.tryConnect}
          onReconnect={commands.tryReconnect}
          onFit={commands.fit}
          onLook={follow.release}
          onReady={() => {
            if (chosenId !== undefined) commands.reveal(chosenId)
          }}
          onRefused={commands.refuse}
          onKeyDown={(event) => canvasKey(event, editor, commands, () => openPanel('node'))}
          onOpen={(id) => (commands.open(id) ? undefined : openPanel('node'))}
          onDrop={(name, at) => {
            const type = types.find((each) => each.type === name)
            if (type) commands.addType(type, at)
          }}
        >
          <SelectionBar editor={editor} commands={commands} onSettings={small ? () => openPanel('node') : undefined} />
        </Canvas>
        {level.length > 0 && <Levels title={blueprint.title} editor={editor} />}
        {editor.shown.nodes.length === 0 && (
          <div className={classes.empty}>
            <EmptyState
              icon={<IconSchema />}
              title={level.length > 0 ? 'Nothing runs for each item yet' : 'No nodes yet'}
              text="Each node does one thing: asks a service, decides, waits, writes. Add the first; the next ones follow it."
              action={editor.readOnly ? undefined : <Button onClick={showCatalogue}>Add the first node</Button>}
            />
          </div>
        )}
        <div className={classes.notes} id="editor-notes">
          {draft.found && (
            <Alert
              icon={<IconHistory size={20} aria-hidden />}
              title="There are changes that were never saved"
              role="status"
            >
              From <Time at={new Date(draft.found.at).toISOString()} />
              {draft.found.version !== blueprint.version
                ? `, made on version ${draft.found.version}; now it is ${blueprint.version}`
                : ''}
              .
              <Group gap="xs" mt="xs">
                <Button size="compact-md" onClick={draft.take}>
                  Bring them back
                </Button>
                <Button size="compact-md" variant="default" onClick={draft.drop}>
                  Throw them away
                </Button>
              </Group>
            </Alert>
          )}
          {executionId && <RunStrip live={live} executionId={executionId} onClose={() => setExecutionId(undefined)} />}
        </div>
      </section>
      {!small && shownPanel && (
        <aside className={classes.right} aria-label="Settings">
          {panel}
        </aside>
      )}

      <Drawer
        opened={sheet === 'catalogue'}
        onClose={() => setSheet(undefined)}
        position={narrow ? 'bottom' : 'left'}
        size={narrow ? '75%' : 320}
        title="Add a node"
      >
        {folded && catalogue}
      </Drawer>
      <Drawer
        opened={sheet === 'panel'}
        onClose={() => setSheet(undefined)}
        position={narrow ? 'bottom' : 'right'}
        size={narrow ? '80%' : 420}
        title={tab === 'node' ? after?.title || 'Node' : tab === 'variables' ? 'Variables' : 'Issues'}
      >
        {small && panel}
      </Drawer>
      <ConnectDialog
        map={editor.shown}
        id={commands.dialog?.kind === 'connect' ? commands.dialog.id : undefined}
        onClose={commands.close}
        onConnect={commands.tryConnect}
      />
      <RenameDialog
        map={editor.shown}
        id={commands.dialog?.kind === 'rename' ? commands.dialog.id : undefined}
        wanted={commands.dialog?.kind === 'rename' ? commands.dialog.to : undefined}
        expressions={expressions}
        onClose={commands.close}
        onRename={commands.renamed}
      />
      <FirstEdgeDialog
        map={editor.shown}
        inLoop={level.length > 0}
        edge={commands.dialog?.kind === 'first' ? commands.dialog.edge : undefined}
        onClose={commands.close}
        onAnswer={commands.joined}
      />
      <PasteDialog opened={commands.dialog?.kind === 'paste'} onClose={commands.close} onPaste={commands.pasteText} />
      <HelpDialog opened={commands.dialog?.kind === 'help'} onClose={commands.close} />
      <ConflictDialog
        theirs={saver.conflict}
        ours={editor.doc}
        saving={saver.saving}
        onOverwrite={() => void saver.overwrite()}
        onReload={saver.reload}
        onClose={saver.dismiss}
      />
      {asking && (
        <Suspense fallback={null}>
          <RunDialog
            blueprintId={blueprint.id}
            opened
            onClose={() => setAsking(false)}
            onStarted={(id) => {
              setAsking(false)
              setExecutionId(id)
            }}
          />
        </Suspense>
      )}
      <VisuallyHidden role="status" aria-live="polite">
        {editor.said}
      </VisuallyHidden>
    </div>
  )
}

// Which for-each one is in, and the way out.
function Levels({ title, editor }: { title: string; editor: ReturnType<typeof useEditor> }) {
  const { level } = editor.state
  const nameOf = (index: number) =>
    mapAt(editor.doc.map, level.slice(0, index))?.nodes.find((node) => node.id === level[index])?.title || level[index]
  return (
    <nav className={classes.crumbs} aria-label="Levels">
      <ol>
        <li>
          <Anchor component="button" type="button" size="sm" onClick={() => editor.enter([], [level[0]!])}>
            {title}
          </Anchor>
        </li>
        {level.map((_id, index) => (
          <li key={index}>
            {index === level.length - 1 ? (
              <span aria-current="location">{nameOf(index)}</span>
            ) : (
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => editor.enter(level.slice(0, index + 1), [level[index + 1]!])}
              >
                {nameOf(index)}
              </Anchor>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
