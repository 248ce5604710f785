import { ActionIcon, NativeSelect, Text, Tooltip, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { IconChevronRight, IconPin } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { membersOf, type Names, type Place, sampleOf, typeOf } from '../forms/names'
import { type Step, writePath } from '../forms/path'
import { wordOf } from '../parts/status-badge'
import { showAbsolute } from '../parts/time-words'
import classes from './data-section.module.css'
import type { Pin, RunChoice } from './types'
import { dataSectionText } from '../text/inspector'

type Props = {
  names: Names
  /** The output of the node in the run, if it has one. */
  output?: Place
  pin?: Pin
  runs?: RunChoice
  /** Called with the path of a clicked value; without it nothing can be inserted. */
  onInsert?: (path: Step[]) => void
}

// Where the browser remembers whether the section is open.
const key = 'blueprintd.editor.data'

/** The data of a stored run that a node's form can use. A click on a value inserts its path. */
export function DataSection({ names, output, pin, runs, onInsert }: Props) {
  const [open, setOpen] = useState(() => localStorage.getItem(key) !== 'closed')
  const id = useId()
  const toggle = () => {
    setOpen(!open)
    localStorage.setItem(key, open ? 'closed' : 'open')
  }
  const roots = rootsOf(names)
  return (
    <section className={classes.data} aria-labelledby={`${id}-title`}>
      <div className={classes.head}>
        <UnstyledButton className={classes.toggle} aria-expanded={open} aria-controls={`${id}-body`} onClick={toggle}>
          <IconChevronRight size={15} aria-hidden data-open={open || undefined} />
          <span id={`${id}-title`}>{dataSectionText.data}</span>
        </UnstyledButton>
        {open && runs && runs.list.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label={dataSectionText.run}
            value={runs.chosen ?? runs.list[0]!.id}
            data={runs.list.map((run, index) => ({
              value: run.id,
              label:
                index === 0
                  ? dataSectionText.lastRun(wordOf(run.status))
                  : dataSectionText.runOf(when(run.at), wordOf(run.status), run.id.slice(-8)),
            }))}
            onChange={(event) => runs.onChoose(event.currentTarget.value)}
          />
        )}
      </div>
      {open && (
        <div id={`${id}-body`} className={classes.body}>
          {roots.length === 0 && !output ? (
            <Text size="xs" c="dimmed">
              {dataSectionText.runToSeeData}
            </Text>
          ) : (
            <ul className={classes.tree}>
              {roots.map(({ path, place, label }, index) => (
                <Row
                  key={writePath(path)}
                  label={label}
                  path={path}
                  place={place}
                  onInsert={onInsert}
                  first={index === 0}
                />
              ))}
              {output && <Row label={dataSectionText.outputOfThisNode} path={[]} place={output} pin={pin} />}
            </ul>
          )}
          {pin?.on && (
            <Text size="xs" mt={6}>
              {dataSectionText.pinned}
            </Text>
          )}
          {onInsert && roots.length > 0 && (
            <Text size="xs" c="dimmed" mt={6}>
              {dataSectionText.clickToInsert}
            </Text>
          )}
        </div>
      )}
    </section>
  )
}

type RowProps = {
  label: string
  path: Step[]
  place: Place
  onInsert?: (path: Step[]) => void
  /** It is open at first. */
  first?: boolean
  pin?: Pin
}

function Row({ label, path, place, onInsert, first = false, pin }: RowProps) {
  const [open, setOpen] = useState(first)
  // What was seen says more than what the type promises.
  const members = membersOf(place.seen ? { value: place.value, seen: true } : place).filter((member) =>
    hasData(member.place),
  )
  const insertable = onInsert && path.length > 0
  const text = (
    <>
      {/* The path of a value that can be inserted ends with its label. */}
      <span className={classes.key} aria-hidden={(insertable && writePath(path).endsWith(label)) || undefined}>
        {label}
      </span>
      <span className={classes.value} data-kind={typeOf(place)}>
        {sampleOf(place)}
      </span>
    </>
  )
  return (
    <li>
      <div className={classes.row}>
        {members.length > 0 ? (
          <ActionIcon
            size={24}
            aria-label={open ? dataSectionText.collapse(label) : dataSectionText.expand(label)}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <IconChevronRight size={13} aria-hidden data-open={open || undefined} />
          </ActionIcon>
        ) : (
          <span className={classes.gap} />
        )}
        {insertable ? (
          <UnstyledButton
            className={classes.insert}
            title={writePath(path)}
            onMouseDown={(event) => event.preventDefault()} // the field keeps the focus
            onClick={() => onInsert(path)}
          >
            <VisuallyHidden>{dataSectionText.insert(writePath(path))}</VisuallyHidden>
            {text}
          </UnstyledButton>
        ) : (
          <span className={classes.insert}>{text}</span>
        )}
        {pin && (
          <Tooltip label={pin.on ? dataSectionText.unpin : dataSectionText.pin}>
            <ActionIcon
              size={24}
              variant={pin.on ? 'filled' : 'subtle'}
              aria-label={pin.on ? dataSectionText.unpin : dataSectionText.pin}
              aria-pressed={pin.on}
              onClick={() => pin.toggle(place.value)}
            >
              <IconPin size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      {open && members.length > 0 && (
        <ul>
          {members.map((member) => (
            <Row
              key={String(member.key)}
              label={String(member.key)}
              path={[...path, member.key]}
              place={member.place}
              onInsert={onInsert}
            />
          ))}
        </ul>
      )}
    </li>
  )
}

// The names with data: the input first, the outputs of earlier nodes in its stead of "nodes".
function rootsOf(names: Names): { path: Step[]; place: Place; label: string }[] {
  const found = Object.entries(names)
    .filter(([name]) => name !== 'nodes' && name !== 'index')
    .map(([name, place]) => ({ path: [name] as Step[], place, label: name }))
  const outputs = Object.entries(names.nodes?.members ?? {}).map(([id, place]) => ({
    path: ['nodes', id, 'output'] as Step[],
    place: place.members?.output ?? place,
    label: place.note || id,
  }))
  const [input, ...others] = found
  return [...(input ? [input] : []), ...outputs, ...others].filter(({ place }) => hasData(place))
}

function hasData(place: Place, depth = 0): boolean {
  if (place.seen) return true
  return depth < 3 && Object.values(place.members ?? {}).some((member) => hasData(member, depth + 1))
}

function when(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : showAbsolute(date)
}
