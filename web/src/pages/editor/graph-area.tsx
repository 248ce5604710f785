import { Button } from '@mantine/core'
import { IconSchema } from '@tabler/icons-react'
import type { Viewport } from '@xyflow/react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import type { NodeType } from '../../graph/node-types'
import { EmptyState } from '../../parts'
import { Canvas } from './canvas'
import { canvasKey } from './canvas-keys'
import classes from './editor.module.css'
import { Levels } from './levels'
import type { Pins } from './pins'
import { NodeSearch, type Search } from './node-search'
import { SelectionBar } from './selection-bar'
import type { Commands } from './use-commands'
import type { Editor } from './use-editor'
import type { Panels } from './use-panels'
import type { useScreen } from './use-screen'
import { useBeside } from './use-beside'
import { problemsAt, type Validation } from './use-validation'
import { graphAreaText } from '../../text/editor'

type Props = {
  editor: Editor
  blueprintId: string
  commands: Commands
  panels: Panels
  types: NodeType[]
  validation: Validation
  statuses?: ReadonlyMap<string, string>
  /** The pinned outputs. */
  pins: Pins
  screen: ReturnType<typeof useScreen>
  /** The title of the blueprint. */
  title: string
  /** The node, if it alone is selected. */
  chosenId: string | undefined
  /** Called when the user moves the view away from the run. */
  onLook: () => void
  /** Notes above the canvas. */
  children: ReactNode
}

/** The canvas with its overlays. */
export function GraphArea({
  editor,
  blueprintId,
  commands,
  panels,
  types,
  validation,
  statuses,
  pins,
  screen,
  title,
  chosenId,
  onLook,
  children,
}: Props) {
  const [views] = useState(() => new Map<string, Viewport>())
  const { level, fresh } = editor.state
  const problems = useMemo(() => problemsAt(validation.issues, { level, fresh }), [validation.issues, level, fresh])
  // Only nodes of the top level have pins.
  const pinned = useMemo(() => (level.length === 0 ? new Set(Object.keys(pins)) : undefined), [level, pins])
  const area = useRef<HTMLElement>(null)
  const [search, setSearch] = useState<Search>()
  const { showTrigger, trigger } = panels
  const beside = useBeside({
    map: editor.shown,
    blueprintId,
    shown: level.length === 0 && !editor.readOnly,
    readOnly: editor.readOnly,
    open: trigger && (trigger.kind === 'open' ? trigger.id : ''),
  })
  const openNode = () => panels.open('node')
  return (
    <section ref={area} className={classes.middle} aria-label={graphAreaText.graph}>
      <Canvas
        key={JSON.stringify(level)}
        editor={editor}
        beside={beside}
        onTrigger={(id) => showTrigger(id === undefined ? { kind: 'choose' } : { kind: 'open', id })}
        onFirst={panels.showCatalogue}
        onGrab={panels.grab}
        onPick={panels.pick}
        onPane={() => {
          if (trigger) showTrigger(undefined)
        }}
        views={views}
        problems={problems}
        statuses={statuses}
        pinned={pinned}
        wide={!screen.narrow}
        onConnect={commands.tryConnect}
        onReconnect={commands.tryReconnect}
        onFit={commands.fit}
        onLook={onLook}
        onReady={() => {
          if (chosenId !== undefined) commands.reveal(chosenId)
        }}
        onRefused={commands.refuse}
        onKeyDown={(event) => canvasKey(event, editor, commands, openNode)}
        onOpen={(id) => (commands.open(id) ? undefined : openNode())}
        onSearch={(x, y, spot) => {
          const box = area.current?.getBoundingClientRect()
          if (box) setSearch({ x: x - box.left, y: y - box.top, spot })
        }}
        onDrop={(name, at, edge) => {
          const type = types.find((each) => each.type === name)
          if (!type) return
          if (edge === undefined) commands.addType(type, at)
          else commands.addAt(type, { edge, at })
        }}
      >
        <SelectionBar
          editor={editor}
          commands={commands}
          onSettings={screen.small || panels.closed ? openNode : undefined}
        />
      </Canvas>
      {search && (
        <NodeSearch
          search={search}
          map={editor.shown}
          types={types}
          onClose={() => {
            setSearch(undefined)
            const { spot } = search
            if ('edge' in spot) return
            setTimeout(() => {
              // Not if it was closed by a click on something that has the focus now.
              if (document.activeElement === document.body) commands.focus('source' in spot ? spot.source : spot.target)
            })
          }}
          onChoose={(type, spot) => {
            setSearch(undefined)
            commands.addAt(type, spot)
            panels.added()
          }}
        />
      )}
      {level.length > 0 && <Levels title={title} editor={editor} />}
      {editor.shown.nodes.length === 0 && !beside && (
        <div className={classes.empty}>
          <EmptyState
            icon={<IconSchema />}
            title={level.length > 0 ? graphAreaText.noNodesInThisLoopYet : graphAreaText.noNodesYet}
            text={graphAreaText.eachNodeDoesOneThingCall}
            action={
              editor.readOnly ? undefined : <Button onClick={panels.showCatalogue}>{graphAreaText.addFirstNode}</Button>
            }
          />
        </div>
      )}
      <div className={classes.notes} id="editor-notes">
        {children}
      </div>
    </section>
  )
}
