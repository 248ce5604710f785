import { ActionIcon, Anchor, Button, CloseButton, Group, Skeleton, Stack, Text, Tooltip } from '@mantine/core'
import { IconArrowLeft, IconExternalLink, IconTrash } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { CopyField, DocLink, ErrorNote, Time } from '../../parts'
import { ActiveSwitch } from '../triggers/active-switch'
import { EditForm } from '../triggers/edit-form'
import { kinds, nameOf } from '../triggers/kinds'
import { NewForm } from '../triggers/new-form'
import { PausedNote } from '../triggers/paused-note'
import { TypeCards } from '../triggers/type-cards'
import { type Config, textOf, type Trigger } from '../triggers/types'
import { useRemove } from '../triggers/use-remove'
import { useTrigger } from '../triggers/use-triggers'
import classes from './editor.module.css'
import { titleOf } from './trigger-title'
import { focusPanel, type TriggerPlace } from './use-panels'
import { triggerPanelText } from '../../text/editor'
import { commonText } from '../../text/common'

type Props = {
  blueprintId: string
  place: TriggerPlace
  onPlace: (place: TriggerPlace | undefined) => void
  /** Configs that are being edited, by the id of the trigger, or by the type of a new one. */
  begun: ReadonlyMap<string, Config>
  onBegun: (key: string, config: Config | undefined) => void
  /** Closes the panel; without it, the panel is a sheet with its own title. */
  onClose?: () => void
}

/** The settings of a trigger beside the canvas, or the choice and the form of a new one. */
export default function TriggerPanel({ blueprintId, place, onPlace, begun, onBegun, onClose }: Props) {
  // A sheet focuses its first control itself.
  const inColumn = onClose !== undefined
  useEffect(() => {
    if (inColumn) focusPanel()
  }, [inColumn, place])
  return (
    <>
      {onClose ? (
        <div className={classes.tabs}>
          {place.kind === 'new' && (
            <ActionIcon size={28} aria-label={triggerPanelText.changeType} onClick={() => onPlace({ kind: 'choose' })}>
              <IconArrowLeft size={17} aria-hidden />
            </ActionIcon>
          )}
          <Text component="h2" fw={600} size="sm" className={classes.choice}>
            {titleOf(place)}
          </Text>
          <CloseButton size="sm" aria-label={triggerPanelText.closePanel} onClick={onClose} />
        </div>
      ) : (
        place.kind === 'new' && (
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconArrowLeft size={16} aria-hidden />}
            onClick={() => onPlace({ kind: 'choose' })}
          >
            {triggerPanelText.changeType}
          </Button>
        )
      )}
      <div className={classes.inside} id="editor-panel" data-triggers>
        {place.kind === 'choose' ? (
          <TypeCards to={(type) => () => onPlace({ kind: 'new', type })} />
        ) : place.kind === 'new' ? (
          <Stack gap="sm">
            <Text size="sm">
              {kinds[place.type].text} <DocLink to="triggers" />
            </Text>
            <NewForm
              key={place.type}
              type={place.type}
              blueprint={blueprintId}
              begun={begun.get(place.type)}
              onConfig={(config) => onBegun(place.type, config)}
              onCreated={(id) => {
                onBegun(place.type, undefined)
                onPlace({ kind: 'open', id })
              }}
              cancel={
                <Button
                  variant="default"
                  onClick={() => {
                    onBegun(place.type, undefined)
                    onPlace(undefined)
                  }}
                >
                  {commonText.cancel}
                </Button>
              }
            />
          </Stack>
        ) : (
          <Open key={place.id} id={place.id} begun={begun} onBegun={onBegun} onGone={() => onPlace(undefined)} />
        )}
      </div>
    </>
  )
}

function Open({ id, begun, onBegun, onGone }: Pick<Props, 'begun' | 'onBegun'> & { id: string; onGone: () => void }) {
  const { data: trigger, error, refetch } = useTrigger(id)
  const loaded = trigger !== undefined
  // The form of a new trigger had the focus; its place is loaded only now.
  useEffect(() => {
    if (loaded && document.activeElement === document.body) focusPanel()
  }, [loaded])
  if (!trigger)
    return error ? (
      <ErrorNote error={error} title={triggerPanelText.couldNotOpenTheTrigger} onRetry={() => void refetch()} />
    ) : (
      <Skeleton h={320} />
    )
  return (
    <Stack gap="sm">
      <Head trigger={trigger} onGone={onGone} />
      <PausedNote trigger={trigger} />
      <Address trigger={trigger} />
      <EditForm
        // The form starts again from what is stored.
        key={begun.has(id) ? 'begun' : JSON.stringify(trigger.config)}
        trigger={trigger}
        begun={begun.get(id)}
        onConfig={(config) => onBegun(id, config)}
        onDone={() => onBegun(id, undefined)}
      />
    </Stack>
  )
}

function Head({ trigger, onGone }: { trigger: Trigger; onGone: () => void }) {
  const { askToRemove } = useRemove(trigger, onGone)
  const kind = kinds[trigger.trigger_type]
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <kind.icon size={20} stroke={1.7} style={{ flex: 'none', marginTop: 1 }} role="img" aria-label={kind.title} />
        <Text fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {nameOf(trigger)}
        </Text>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <ActiveSwitch trigger={trigger} label={commonText.active} />
        <Anchor component={Link} href={`/triggers/${trigger.id}`} size="sm" ml="auto">
          {triggerPanelText.firings} <IconExternalLink size={13} aria-hidden />
        </Anchor>
        {trigger.can_manage && (
          <Tooltip label={triggerPanelText.deleteTrigger}>
            <ActionIcon
              size={30}
              color="red"
              aria-label={triggerPanelText.deleteTrigger}
              onClick={() => void askToRemove()}
            >
              <IconTrash size={17} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </>
  )
}

function Address({ trigger }: { trigger: Trigger }) {
  const { trigger_type: type, config } = trigger
  const address = type === 'email' ? textOf(config, 'address') : trigger.url
  if (address)
    return <CopyField label={type === 'email' ? triggerPanelText.mailAddress : triggerPanelText.url} value={address} />
  if (type !== 'scheduled' || !trigger.next_at) return null
  return (
    <Text size="sm">
      {triggerPanelText.nextRun} <Time at={trigger.next_at} />, <Time at={trigger.next_at} absolute />
    </Text>
  )
}
