import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import classes from './forms.module.css'
import { type ControlProps, useFormState } from './form-state'
import { Frame, Issues } from './frame'
import { below, split } from './issues'
import type { Step } from './path'
import { startOf } from './start'
import { useNotApplied } from './unapplied'
import { useFocusAfter } from './use-focus-after'
import { isObject, renamed, withMember } from './values'
import { mapFieldText } from '../text/forms'
import { commonText } from '../text/common'

/** An object with keys that the user chooses: headers, values, parameters. */
export function MapField({ field, id, label, path, value, onChange, issues, required, actions }: ControlProps) {
  const { FieldView, readOnly, root } = useFormState()
  const object = isObject(value) ? value : {}
  const keys = Object.keys(object)
  const { rows, add, toNewest, toAdd } = useFocusAfter(keys.length)
  const [fresh, setFresh] = useState(false) // a row without a key yet
  const items = field.items ?? true
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
      {(keys.length > 0 || fresh) && (
        <div className={classes.inside} ref={rows}>
          {keys.map((key, index) => (
            // The position identifies the row, because the key changes while typing.
            <div key={index} className={classes.pair}>
              <KeyInput
                name={key}
                path={[...path, `(key ${index + 1})`]}
                label={mapFieldText.key(label, index + 1)}
                taken={keys}
                readOnly={readOnly}
                onRename={(to) => onChange(renamed(object, key, to))}
              />
              <FieldView
                schema={items}
                name=""
                label={mapFieldText.valueOf(key)}
                hideLabel
                path={[...path, key]}
                required
                value={object[key]}
                onChange={(next) => onChange(withMember(object, key, next === undefined ? emptyOf(object[key]) : next))}
                issues={below(issues, key)}
              />
              {!readOnly && (
                <Remove
                  label={mapFieldText.remove(key)}
                  onClick={() => {
                    toAdd()
                    onChange(withMember(object, key, undefined))
                  }}
                />
              )}
            </div>
          ))}
          {fresh && (
            <div className={classes.pair}>
              <KeyInput
                name=""
                path={[...path, '(new key)']}
                label={mapFieldText.newKey(label)}
                taken={keys}
                focus
                onLeaveEmpty={() => setFresh(false)}
                onRename={(key) => {
                  setFresh(false)
                  toNewest()
                  const start = startOf(items, root)
                  onChange(withMember(object, key, start === undefined ? '' : start))
                }}
              />
              <span className={classes.nothing} style={{ paddingTop: 8 }}>
                {mapFieldText.typeAKeyAndPressEnter}
              </span>
              <Remove label={mapFieldText.removeThisRow} onClick={() => setFresh(false)} />
            </div>
          )}
        </div>
      )}
      <div className={classes.addRow}>
        {keys.length === 0 && readOnly && (
          <span className={classes.nothing}>{value === undefined ? commonText.notSet : mapFieldText.empty}</span>
        )}
        {!readOnly && (
          <Button
            ref={add}
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => setFresh(true)}
          >
            {mapFieldText.addKey}
          </Button>
        )}
      </div>
    </Frame>
  )
}

function emptyOf(before: unknown): unknown {
  return typeof before === 'string' ? '' : null
}

function Remove({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <span className={classes.pairTools}>
      <Tooltip label={label}>
        <ActionIcon size={28} aria-label={label} onClick={onClick}>
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </span>
  )
}

type KeyProps = {
  name: string
  path: readonly Step[]
  label: string
  taken: string[]
  onRename: (to: string) => void
  onLeaveEmpty?: () => void
  focus?: boolean
  readOnly?: boolean
}

// A key takes effect when the field loses the focus: a partial one could equal another key.
function KeyInput({ name, path, label, taken, onRename, onLeaveEmpty, focus, readOnly }: KeyProps) {
  const [draft, setDraft] = useState(name)
  const [known, setKnown] = useState(name)
  const box = useRef<HTMLInputElement>(null)
  if (known !== name) {
    setKnown(name)
    setDraft(name)
  }
  useEffect(() => {
    if (focus) box.current?.focus()
  }, [focus])
  const twice = draft !== name && taken.includes(draft)
  useNotApplied(path, draft, twice ? mapFieldText.notAppliedDuplicateKey : undefined)
  const done = () => {
    if (draft === name) {
      if (draft === '') onLeaveEmpty?.()
    } else if (!twice) onRename(draft)
  }
  return (
    <div>
      <TextInput
        ref={box}
        aria-label={label}
        value={draft}
        readOnly={readOnly}
        error={twice}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: classes.mono }}
        placeholder={mapFieldText.key2}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            done()
          }
          if (event.key === 'Escape' && draft !== name) {
            event.stopPropagation()
            setDraft(name)
          }
        }}
      />
      <Issues issues={twice ? [{ path: [], message: mapFieldText.notAppliedDuplicateKey }] : []} />
    </div>
  )
}
