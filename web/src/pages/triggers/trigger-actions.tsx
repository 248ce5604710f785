import { ActionIcon, Button, Menu } from '@mantine/core'
import {
  IconDots,
  IconKey,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPower,
  IconTrash,
} from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { FireDialog } from './fire-dialog'
import { RotateDialog } from './rotate-dialog'
import classes from './triggers.module.css'
import type { Trigger } from './types'
import { useRemove } from './use-remove'
import { useSwitch } from './use-triggers'
import { triggerActionsText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** The actions for a trigger: fire, activate or pause, edit, and less common ones in a menu. */
export function TriggerActions({ trigger }: { trigger: Trigger }) {
  const [open, setOpen] = useState<'fire' | 'rotate' | null>(null)
  const [, go] = useLocation()
  const turn = useSwitch()
  const { askToRemove } = useRemove(trigger, () => go(`/blueprints/${trigger.blueprint_id}/triggers`))
  const active = turn.isPending ? turn.variables.isActive : trigger.is_active
  return (
    <>
      <Button
        px="xs"
        className={classes.act}
        leftSection={<IconPlayerPlay size={17} aria-hidden />}
        onClick={() => setOpen('fire')}
        disabled={!active}
        title={active ? undefined : triggerActionsText.activateItFirst}
      >
        {triggerActionsText.fire}
      </Button>
      <Button
        px="xs"
        className={classes.act}
        variant="default"
        leftSection={active ? <IconPlayerPause size={17} aria-hidden /> : <IconPower size={17} aria-hidden />}
        onClick={() => turn.mutate({ triggerId: trigger.id, isActive: !active })}
        aria-busy={turn.isPending}
      >
        {active ? triggerActionsText.pause : triggerActionsText.activate}
      </Button>
      <Button
        px="xs"
        className={classes.act}
        component={Link}
        href={`/triggers/${trigger.id}/edit`}
        variant="default"
        leftSection={<IconPencil size={17} aria-hidden />}
      >
        {commonText.edit}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={triggerActionsText.moreActions}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(trigger.trigger_type === 'webhook' || trigger.trigger_type === 'slack') && (
            <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={() => setOpen('rotate')}>
              {triggerActionsText.rotateSecret}
            </Menu.Item>
          )}
          <Menu.Item
            c="var(--mantine-color-red-text)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => void askToRemove()}
          >
            {commonText.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FireDialog trigger={trigger} opened={open === 'fire'} onClose={() => setOpen(null)} />
      <RotateDialog trigger={trigger} opened={open === 'rotate'} onClose={() => setOpen(null)} />
    </>
  )
}
