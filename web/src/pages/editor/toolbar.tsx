import { ActionIcon, Badge, Button, Group, Menu, Text, Tooltip } from '@mantine/core'
import {
  IconAlertCircle,
  IconAlertTriangle,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconBraces,
  IconCircleCheck,
  IconClipboardText,
  IconDeviceFloppy,
  IconDotsVertical,
  IconKeyboard,
  IconLayoutDashboard,
  IconNote,
  IconPlayerPlay,
  IconPlus,
} from '@tabler/icons-react'
import classes from './editor.module.css'
import { command } from './help-dialog'
import type { Commands } from './use-commands'
import type { Editor } from './use-editor'
import type { Validation } from './use-validation'
import { toolbarText } from '../../text/editor'
import { commonText } from '../../text/common'

type Props = {
  editor: Editor
  commands: Commands
  validation: Validation
  narrow: boolean
  /** Without the labels of buttons. */
  tight: boolean
  /** The catalogue is shown. */
  palette: boolean
  onPalette: () => void
  saving: boolean
  /** There are unsaved changes. */
  dirty: boolean
  onSave: () => void
  onRun?: () => void
  onIssues: () => void
  onVariables: () => void
}

/** The commands of the editor that are always visible. */
export function Toolbar({
  editor,
  commands,
  validation,
  narrow,
  tight,
  palette,
  onPalette,
  saving,
  dirty,
  onSave,
  onRun,
  onIssues,
  onVariables,
}: Props) {
  const { readOnly, steps } = editor
  return (
    <div className={classes.toolbar} role="toolbar" aria-label={commonText.editor}>
      {!readOnly && (
        <Group gap={2} wrap="nowrap">
          {narrow ? (
            <ActionIcon
              variant="light"
              color="petrol"
              size={36}
              aria-label={toolbarText.addNode}
              onClick={commands.add}
            >
              <IconPlus size={20} aria-hidden />
            </ActionIcon>
          ) : (
            <Tooltip label={toolbarText.addNode}>
              <ActionIcon
                variant={palette ? 'filled' : 'light'}
                color="petrol"
                size={30}
                aria-label={toolbarText.addNode}
                aria-pressed={palette}
                onClick={onPalette}
              >
                <IconPlus size={18} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          <Tool
            label={steps.undo ? toolbarText.undo(steps.undo) : commonText.undo}
            off={!steps.undo}
            act={editor.undo}
            large={narrow}
          >
            <IconArrowBackUp size={19} aria-hidden />
          </Tool>
          {!narrow && (
            <Tool
              label={steps.redo ? toolbarText.redo(steps.redo) : commonText.redo}
              off={!steps.redo}
              act={editor.redo}
            >
              <IconArrowForwardUp size={19} aria-hidden />
            </Tool>
          )}
          {!narrow && (
            <Tool label={toolbarText.arrangeNodes} off={editor.shown.nodes.length === 0} act={commands.tidy}>
              <IconLayoutDashboard size={18} aria-hidden />
            </Tool>
          )}
        </Group>
      )}
      <Status validation={validation} narrow={tight} onClick={onIssues} />
      {narrow && <div className={classes.space} />}
      {!narrow && readOnly && (
        <Text size="xs" c="dimmed" className={classes.state}>
          {toolbarText.viewOnly}
        </Text>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size={narrow ? 36 : 32} aria-label={toolbarText.moreActions}>
            <IconDotsVertical size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconBraces size={16} aria-hidden />} onClick={onVariables}>
            {commonText.variables}
          </Menu.Item>
          {!readOnly && (
            <Menu.Item leftSection={<IconClipboardText size={16} aria-hidden />} onClick={() => void commands.paste()}>
              {toolbarText.pasteNodes}
            </Menu.Item>
          )}
          {!readOnly && (
            <Menu.Item leftSection={<IconNote size={16} aria-hidden />} onClick={commands.addNote}>
              {toolbarText.addNote}
            </Menu.Item>
          )}
          {!readOnly && narrow && (
            <Menu.Item
              leftSection={<IconArrowForwardUp size={16} aria-hidden />}
              onClick={editor.redo}
              disabled={!steps.redo}
            >
              {steps.redo ? toolbarText.redo(steps.redo) : commonText.redo}
            </Menu.Item>
          )}
          {!readOnly && narrow && (
            <Menu.Item leftSection={<IconLayoutDashboard size={16} aria-hidden />} onClick={commands.tidy}>
              {toolbarText.arrangeNodes}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={commands.help}>
            {toolbarText.keyboardShortcuts}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {onRun &&
        (narrow ? (
          <ActionIcon
            variant="default"
            size={36}
            aria-label={dirty ? toolbarText.saveAndRun : commonText.run}
            onClick={onRun}
          >
            <IconPlayerPlay size={18} aria-hidden />
          </ActionIcon>
        ) : (
          // One visible label, so that the bar does not move with the first change.
          <Tooltip label={toolbarText.runKeys(command, dirty)}>
            <Button
              variant="default"
              size="compact-sm"
              px={12}
              h={30}
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              aria-label={dirty ? toolbarText.saveAndRun : commonText.run}
              onClick={onRun}
            >
              {commonText.run}
            </Button>
          </Tooltip>
        ))}
      {!readOnly && (
        <Tooltip label={toolbarText.saveKeys(command)}>
          <Button
            size={narrow ? 'sm' : 'compact-sm'}
            px={12}
            h={narrow ? 36 : 30}
            miw={narrow ? 76 : 98}
            style={{ flex: 'none' }}
            loading={saving}
            aria-disabled={!dirty || undefined}
            variant={dirty ? 'filled' : 'default'}
            leftSection={narrow ? undefined : <IconDeviceFloppy size={16} aria-hidden />}
            onClick={onSave}
          >
            {dirty ? commonText.save : commonText.saved}
          </Button>
        </Tooltip>
      )}
    </div>
  )
}

function Tool({
  label,
  off,
  act,
  large,
  children,
}: {
  label: string
  off: boolean
  act: () => void
  large?: boolean
  children: React.ReactNode
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon size={large ? 36 : 32} aria-label={label} disabled={off} className={classes.tool} onClick={act}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}

// The counts in one button: two would make the bar too wide for a phone.
function Status({ validation, narrow, onClick }: { validation: Validation; narrow: boolean; onClick: () => void }) {
  const { errors, warnings, checking, error } = validation
  const unknown = checking || (error !== undefined && errors + warnings === 0)
  const words = [
    errors > 0 ? toolbarText.errors(errors) : '',
    warnings > 0 ? toolbarText.warnings(warnings) : '',
  ].filter(Boolean)
  const [color, Sign] =
    errors > 0
      ? (['red', IconAlertCircle] as const)
      : warnings > 0
        ? (['amber', IconAlertTriangle] as const)
        : (['green', IconCircleCheck] as const)
  const label = checking
    ? toolbarText.checking
    : words.join(', ') || (unknown ? toolbarText.notChecked : toolbarText.noProblems)
  const short = errors + warnings || (unknown ? '…' : 'OK')
  return (
    <Badge
      component="button"
      type="button"
      onClick={onClick}
      color={unknown ? 'gray' : color}
      size="lg"
      className={classes.status}
      leftSection={<Sign size={15} aria-hidden />}
      aria-label={narrow && words.length !== 1 ? toolbarText.issues(short, label) : toolbarText.issues2(label)}
    >
      {narrow ? short : label}
    </Badge>
  )
}
