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
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../api/client'
import { confirm, notifyDone, notifyError } from '../../parts'
import { FireDialog } from './fire-dialog'
import { RotateDialog } from './rotate-dialog'
import classes from './triggers.module.css'
import type { Trigger } from './types'
import { useRefresh, useSwitch } from './use-triggers'
import { listensTo } from './kinds'
import { triggerActionsText } from '../../text/triggers'
import { commonText } from '../../text/common'

/** The actions for a trigger: fire, activate or pause, edit, and less common ones in a menu. */
export function TriggerActions({ trigger }: { trigger: Trigger }) {
  const [open, setOpen] = useState<'fire' | 'rotate' | null>(null)
  const [, go] = useLocation()
  const turn = useSwitch()
  const refresh = useRefresh()
  const remove = useMutation({
    mutationFn: () => api.blueprintTriggers.delete.mutate({ triggerId: trigger.id }),
    onSuccess: () => {
      notifyDone(triggerActionsText.triggerDeleted)
      go(`/blueprints/${trigger.blueprint_id}/triggers`)
      void refresh()
    },
    onError: notifyError,
  })
  const askToRemove = async () => {
    const yes = await confirm({
      title: triggerActionsText.deleteThisTrigger,
      action: commonText.delete,
      danger: true,
      text: <>{triggerActionsText.itsAddressStopsWorkingAndIts(listensTo(trigger.trigger_type, trigger.config))}</>,
    })
    if (yes) remove.mutate()
  }
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
