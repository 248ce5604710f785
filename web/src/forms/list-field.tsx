import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import classes from './forms.module.css'
import { type ControlProps, useFormState } from './form-state'
import { Frame } from './frame'
import { below, split } from './issues'
import { labelOf } from './label'
import { fieldOf } from './schema'
import { startOf } from './start'
import { useFocusAfter } from './use-focus-after'
import { moved } from './values'
import { listFieldText } from '../text/forms'
import { commonText } from '../text/common'

/** A list: its items with buttons to move and remove them, and a button to add one. */
export function ListField({ field, id, name, label, path, value, onChange, issues, required, actions }: ControlProps) {
  const { FieldView, readOnly, root } = useFormState()
  const list = Array.isArray(value) ? (value as unknown[]) : []
  const keys = useKeys(list.length)
  const { rows, add, toNewest, toAdd } = useFocusAfter(list.length)
  const items = field.items ?? true
  const one = singular(name || label)
  const most = typeof field.schema.maxItems === 'number' ? field.schema.maxItems : Infinity
  const simple = !['object', 'list', 'map', 'variants', 'any'].includes(fieldOf(items, root).kind)
  const change = (next: unknown[]) => onChange(next)
  return (
    <Frame
      id={id}
      label={label}
      required={required}
      description={field.description}
      issues={split(issues).own}
      actions={actions}
      group
    >
      {list.length > 0 && (
        <div className={classes.inside} ref={rows}>
          {list.map((item, index) => {
            const what = `${one[0]!.toUpperCase()}${one.slice(1)} ${index + 1}`
            const tools = !readOnly && (
              <>
                <Tool
                  label={listFieldText.moveUp(what)}
                  disabled={index === 0}
                  onClick={() => {
                    keys.move(index, -1)
                    change(moved(list, index, -1))
                  }}
                >
                  <IconArrowUp size={15} aria-hidden />
                </Tool>
                <Tool
                  label={listFieldText.moveDown(what)}
                  disabled={index === list.length - 1}
                  onClick={() => {
                    keys.move(index, 1)
                    change(moved(list, index, 1))
                  }}
                >
                  <IconArrowDown size={15} aria-hidden />
                </Tool>
                <Tool
                  label={listFieldText.remove(what)}
                  onClick={() => {
                    keys.remove(index)
                    toAdd()
                    change(list.filter((_, at) => at !== index))
                  }}
                >
                  <IconTrash size={15} aria-hidden />
                </Tool>
              </>
            )
            const view = (
              <FieldView
                schema={items}
                name={name}
                label={what}
                hideLabel={simple}
                tools={simple ? undefined : tools}
                path={[...path, index]}
                required
                value={item}
                // An item is never undefined: a cleared one is null, or an empty text.
                onChange={(next) =>
                  change(
                    list.map((old, at) =>
                      at === index ? (next === undefined ? (typeof old === 'string' ? '' : null) : next) : old,
                    ),
                  )
                }
                issues={below(issues, index)}
              />
            )
            return simple ? (
              <div key={keys.of(index)} className={classes.row}>
                <div className={classes.grow}>{view}</div>
                <span className={classes.pairTools}>{tools}</span>
              </div>
            ) : (
              <div key={keys.of(index)}>{view}</div>
            )
          })}
        </div>
      )}
      <div className={classes.addRow}>
        {list.length === 0 && readOnly && (
          <span className={classes.nothing}>{value === undefined ? commonText.notSet : listFieldText.empty}</span>
        )}
        {!readOnly && (
          <Button
            ref={add}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={list.length >= most}
            onClick={() => {
              toNewest()
              const start = startOf(items, root)
              change([...list, start === undefined ? (simple ? '' : null) : start])
            }}
          >
            {listFieldText.add(one)}
          </Button>
        )}
      </div>
    </Frame>
  )
}

function Tool({
  label,
  ...rest
}: {
  label: string
  disabled?: boolean
  onClick: () => void
  children: React.ReactNode
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon size={26} className={classes.tool} aria-label={label} {...rest} />
    </Tooltip>
  )
}

// Items have no names; each gets a key, so that a field keeps its state when items move.
function useKeys(length: number) {
  const [known, setKnown] = useState<readonly number[]>([])
  const keys =
    known.length === length
      ? known
      : Array.from({ length }, (_, at) => known[at] ?? Math.max(-1, ...known) + 1 + at - known.length)
  if (keys !== known) setKnown(keys)
  return {
    of: (index: number) => keys[index],
    move: (index: number, by: 1 | -1) => setKnown(moved(keys, index, by)),
    remove: (index: number) => setKnown(keys.filter((_, at) => at !== index)),
  }
}

function singular(name: string): string {
  const word = labelOf(name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  if (/ies$/.test(word)) return `${word.slice(0, -3)}y`
  return /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word === '' ? 'item' : word
}
