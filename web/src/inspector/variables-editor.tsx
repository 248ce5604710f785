import { Button } from '@mantine/core'
import { IconPlus, IconVariable } from '@tabler/icons-react'
import { useMemo, useRef, useState } from 'react'
import { Issues } from '../forms/frame'
import { below, split } from '../forms/issues'
import type { FormIssue } from '../forms/types'
import { usePruneUnapplied } from '../forms/unapplied'
import { moved } from '../forms/values'
import type { BlueprintMap, MapNode } from '../graph/map'
import { EmptyState } from '../parts'
import { focusAfter } from '../parts/focus'
import classes from './inspector.module.css'
import { issuesOfVariables } from './node-issues'
import type { NodeTypeInfo } from './types'
import { usesOf } from './uses'
import { VariableRow } from './variable-row'
import { freshName, readVariables } from './variables'
import { variablesEditorText } from '../text/inspector'

export type VariablesEditorProps = {
  /** environment_variables. Unknown members of an element are kept. */
  variables: readonly unknown[]
  onChange: (variables: unknown[]) => void
  /** The problems: with paths from the list, or from the blueprint (`["environment_variables", 0, "name"]`). */
  issues?: readonly FormIssue[]
  readOnly?: boolean
  /** The blueprint's map, to find the nodes that use a variable. */
  map?: BlueprintMap
  types?: readonly NodeTypeInfo[]
  /** Called with the selected one of the nodes that use a variable. */
  onShowNode?: (node: MapNode) => void
  /** The variable to open, by its position. Each new object opens it again. */
  focus?: { index: number }
}

/** The variables of a blueprint, with the defaults for runs that do not set them. */
export function VariablesEditor({
  variables,
  onChange,
  issues = [],
  readOnly = false,
  map,
  types,
  onShowNode,
  focus,
}: VariablesEditorProps) {
  usePruneUnapplied()
  const [open, setOpen] = useState<number | undefined>()
  const [wish, setWish] = useState<object>()
  if (focus && focus !== wish) {
    setWish(focus)
    setOpen(focus.index)
  }
  const list = useMemo(() => readVariables(variables), [variables])
  const uses = useMemo(
    () => map && usesOf(map, (type) => types?.find((one) => one.type === type)?.expressions),
    [map, types],
  )
  const found = useMemo(() => issuesOfVariables(issues), [issues])
  const adder = useRef<HTMLButtonElement>(null)
  const holder = useRef<HTMLDivElement>(null)
  const names = list.map((one) => one.name)
  const add = () => {
    const index = variables.length
    focusAfter(
      () => {
        setOpen(index)
        onChange([...variables, { name: freshName(names), type: 'string' }])
      },
      () => holder.current?.querySelector<HTMLInputElement>(`[data-variable="${index}"] input`),
      (box) => box.select(),
    )
  }
  const button = !readOnly && (
    <Button ref={adder} variant="default" size="sm" leftSection={<IconPlus size={16} aria-hidden />} onClick={add}>
      {variablesEditorText.addVariable}
    </Button>
  )
  if (variables.length === 0) {
    return (
      <EmptyState
        icon={<IconVariable />}
        title={variablesEditorText.noVariables}
        text={variablesEditorText.aVariableIsANamedValue}
        action={button}
      />
    )
  }
  return (
    <div className={classes.variables} ref={holder}>
      <Issues issues={split(found).own} />
      {list.map((variable, index) => (
        <VariableRow
          // The position identifies the row, because the name changes while typing.
          key={index}
          index={index}
          element={variables[index]}
          variable={variable}
          others={names.filter((_, at) => at !== index)}
          issues={below(found, index)}
          readOnly={readOnly}
          open={open === index}
          onToggle={() => setOpen(open === index ? undefined : index)}
          onChange={(next) => onChange(variables.map((old, at) => (at === index ? next : old)))}
          onRemove={() => {
            setOpen(undefined)
            adder.current?.focus()
            onChange(variables.filter((_, at) => at !== index))
          }}
          onMove={(by) => {
            setOpen((at) => (at === index ? index + by : undefined))
            onChange(moved(variables, index, by))
          }}
          first={index === 0}
          last={index === list.length - 1}
          users={uses?.get(variable.name) ?? (uses ? [] : undefined)}
          onShowNode={onShowNode}
        />
      ))}
      <div>{button}</div>
    </div>
  )
}
