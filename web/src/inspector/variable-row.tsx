import {
  ActionIcon,
  Anchor,
  Badge,
  Checkbox,
  NativeSelect,
  Textarea,
  TextInput,
  Tooltip,
  UnstyledButton,
} from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconChevronRight, IconTrash } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { about, Frame, Issues } from '../forms/frame'
import { below, isError, split } from '../forms/issues'
import type { FormIssue } from '../forms/types'
import { UnappliedAt } from '../forms/unapplied-at'
import { isObject, oneLine, withMember } from '../forms/values'
import type { MapNode } from '../graph/map'
import classes from './inspector.module.css'
import { VariableDefault } from './variable-default'
import { defaultAs, nameFault, secretIsSet, type Variable, type VariableType, variableTypes } from './variables'
import { variableRowText } from '../text/inspector'
import { commonText } from '../text/common'

type Props = {
  /** Its position among the variables. */
  index: number
  /** The stored variable. */
  element: unknown
  variable: Variable
  /** The names of the other variables. */
  others: readonly string[]
  issues: readonly FormIssue[]
  readOnly: boolean
  open: boolean
  onToggle: () => void
  onChange: (element: Record<string, unknown>) => void
  onRemove: () => void
  onMove: (by: -1 | 1) => void
  first: boolean
  last: boolean
  /** The nodes that refer to it; undefined if unknown. */
  users?: readonly MapNode[]
  onShowNode?: (node: MapNode) => void
}

/** One variable: a summary line, and its fields when expanded. */
export function VariableRow({
  index,
  element,
  variable,
  others,
  issues,
  readOnly,
  open,
  onToggle,
  onChange,
  onRemove,
  onMove,
  first,
  last,
  users,
  onShowNode,
}: Props) {
  const id = useId()
  const [opened, setOpened] = useState(open) // keeps the fields mounted, because unapplied texts would be lost with them
  if (open && !opened) setOpened(true)
  const object = isObject(element) ? element : {}
  const set = (key: string, value: unknown) => onChange(withMember(object, key, value))
  const fault = nameFault(variable.name, others)
  const nameIssues: readonly FormIssue[] = fault ? [{ path: [], message: fault }] : below(issues, 'name')
  const bad = fault !== undefined || issues.some(isError)
  const unused = users?.length === 0
  const called = variable.name || variableRowText.unnamed
  const setType = (type: VariableType) => {
    // An unset secret stays null, "keep what is stored"; the server reports a value that does not fit the type.
    const kept = variable.secret && object.default === null ? null : defaultAs(object.default, type)
    const next = withMember(object, 'type', type)
    onChange(withMember(next, 'default', kept))
  }
  // A visible value that becomes secret is kept; a secret that becomes visible is not revealed.
  const setSecret = (secret: boolean) => {
    const next = withMember(object, 'secret', secret || undefined)
    onChange(secret ? next : withMember(next, 'default', undefined))
  }
  return (
    <section
      className={classes.variable}
      data-variable={index}
      data-bad={bad || undefined}
      aria-label={variableRowText.variable(called)}
    >
      <div className={classes.variableHead}>
        <UnstyledButton
          className={classes.variableToggle}
          aria-expanded={open}
          aria-controls={`${id}-body`}
          onClick={onToggle}
        >
          <IconChevronRight size={16} aria-hidden data-open={open || undefined} />
          <span className={classes.variableName}>{called}</span>
          <span className={classes.variableNote}>
            {variableTypes.find((one) => one.value === variable.type)?.label}
          </span>
          {variable.secret && (
            <Badge size="sm" color="violet">
              {variableRowText.secret}
            </Badge>
          )}
          {variable.required && (
            <Badge size="sm" color="blue">
              {variableRowText.required}
            </Badge>
          )}
          {bad && (
            <Badge size="sm" color="red">
              {variableRowText.problem}
            </Badge>
          )}
          <span className={classes.variableNote} data-doubt={unused || undefined}>
            {summary(element, variable, unused)}
          </span>
        </UnstyledButton>
        {!readOnly && (
          <>
            <Tool label={variableRowText.moveUp(called)} disabled={first} onClick={() => onMove(-1)}>
              <IconArrowUp size={15} aria-hidden />
            </Tool>
            <Tool label={variableRowText.moveDown(called)} disabled={last} onClick={() => onMove(1)}>
              <IconArrowDown size={15} aria-hidden />
            </Tool>
            <Tool label={variableRowText.remove(called)} onClick={onRemove}>
              <IconTrash size={15} aria-hidden />
            </Tool>
          </>
        )}
      </div>
      <div id={`${id}-body`} hidden={!open}>
        {opened && (
          <div className={classes.variableBody}>
            <div className={classes.two}>
              <Frame id={`${id}-name`} label={commonText.name} required issues={nameIssues}>
                <TextInput
                  {...about(`${id}-name`, nameIssues, true)}
                  value={variable.name}
                  readOnly={readOnly}
                  spellCheck={false}
                  autoComplete="off"
                  error={nameIssues.some(isError)}
                  onChange={(event) => set('name', event.currentTarget.value)}
                />
              </Frame>
              <Frame id={`${id}-type`} label={commonText.type} issues={below(issues, 'type')}>
                <NativeSelect
                  {...about(`${id}-type`, below(issues, 'type'))}
                  data={variableTypes}
                  value={variable.type}
                  disabled={readOnly}
                  onChange={(event) => setType(event.currentTarget.value as VariableType)}
                />
              </Frame>
            </div>
            <UnappliedAt path={[index, 'default']}>
              <VariableDefault
                id={`${id}-default`}
                element={object}
                variable={variable}
                issues={below(issues, 'default')}
                readOnly={readOnly}
                onChange={(value) => set('default', value)}
              />
            </UnappliedAt>
            <Frame id={`${id}-text`} label={commonText.description} issues={below(issues, 'description')}>
              <Textarea
                {...about(`${id}-text`, below(issues, 'description'))}
                value={variable.description}
                readOnly={readOnly}
                autosize
                minRows={1}
                maxRows={8}
                onChange={(event) => set('description', event.currentTarget.value || undefined)}
              />
            </Frame>
            <div className={classes.two}>
              <Checkbox
                label={variableRowText.required}
                description={variableRowText.runsWithoutAValueAreRefused}
                checked={variable.required}
                disabled={readOnly}
                onChange={(event) => set('required', event.currentTarget.checked || undefined)}
              />
              <Checkbox
                label={variableRowText.secret}
                description={variableRowText.storedEncryptedShownAsInRuns}
                checked={variable.secret}
                disabled={readOnly}
                onChange={(event) => setSecret(event.currentTarget.checked)}
              />
            </div>
            <Users users={users} onShowNode={onShowNode} />
            <Issues issues={split(issues).own} />
          </div>
        )}
      </div>
    </section>
  )
}

function summary(element: unknown, variable: Variable, unused: boolean): string {
  const value = variable.secret
    ? secretIsSet(element)
      ? 'set'
      : variableRowText.noValue
    : variable.hasDefault
      ? oneLine(variable.standard).slice(0, 40) || variableRowText.emptyText
      : ''
  return [value, unused ? variableRowText.notUsed : ''].filter(Boolean).join(' · ')
}

function Users({ users, onShowNode }: Pick<Props, 'users' | 'onShowNode'>) {
  if (!users) return null
  if (users.length === 0)
    return (
      <div className={classes.used} data-doubt>
        {variableRowText.noNodeRefersToItDirectly}
      </div>
    )
  const shown = users.slice(0, 12)
  return (
    <div className={classes.used}>
      {variableRowText.usedIn}
      {shown.map((node, index) => (
        <span key={`${node.id} ${index}`}>
          {onShowNode ? (
            <Anchor component="button" type="button" size="xs" onClick={() => onShowNode(node)}>
              {node.title || node.id}
            </Anchor>
          ) : (
            node.title || node.id
          )}
        </span>
      ))}
      {users.length > shown.length && <span>{variableRowText.andMore(users.length - shown.length)}</span>}
    </div>
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
      <ActionIcon size={28} className={classes.tool} aria-label={label} {...rest} />
    </Tooltip>
  )
}
