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

/** What one can do with a trigger: fire it, switch it, edit it, and what is rarer. */
export function TriggerActions({ trigger }: { trigger: Trigger }) {
  const [open, setOpen] = useState<'fire' | 'rotate' | null>(null)
  const [, go] = useLocation()
  const turn = useSwitch()
  const refresh = useRefresh()
  const remove = useMutation({
    mutationFn: () => api.blueprintTriggers.delete.mutate({ triggerId: trigger.id }),
    onSuccess: () => {
      notifyDone('The trigger is deleted')
      go(`/blueprints/${trigger.blueprint_id}/triggers`)
      void refresh()
    },
    onError: notifyError,
  })
  const askToRemove = async () => {
    const yes = await confirm({
      title: 'Delete this trigger?',
      action: 'Delete',
      danger: true,
      text: (
        <>
          {listensTo(trigger.trigger_type, trigger.config)}. Its address stops working and its ledger goes with it. Runs
          that it has begun go on. This cannot be undone; switching it off keeps everything.
        </>
      ),
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
        title={active ? undefined : 'Switch it on first'}
      >
        Fire
      </Button>
      <Button
        px="xs"
        className={classes.act}
        variant="default"
        leftSection={active ? <IconPlayerPause size={17} aria-hidden /> : <IconPower size={17} aria-hidden />}
        onClick={() => turn.mutate({ triggerId: trigger.id, isActive: !active })}
        aria-busy={turn.isPending}
      >
        {active ? 'Pause' : 'Switch on'}
      </Button>
      <Button
        px="xs"
        className={classes.act}
        component={Link}
        href={`/triggers/${trigger.id}/edit`}
        variant="default"
        leftSection={<IconPencil size={17} aria-hidden />}
      >
        Edit
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More actions">
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(trigger.trigger_type === 'webhook' || trigger.trigger_type === 'slack') && (
            <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={() => setOpen('rotate')}>
              Rotate secret
            </Menu.Item>
          )}
          <Menu.Item
            c="var(--mantine-color-red-text)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => void askToRemove()}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <FireDialog trigger={trigger} opened={open === 'fire'} onClose={() => setOpen(null)} />
      <RotateDialog trigger={trigger} opened={open === 'rotate'} onClose={() => setOpen(null)} />
    </>
  )
}
