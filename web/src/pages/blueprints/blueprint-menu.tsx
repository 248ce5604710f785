import { ActionIcon, Menu } from '@mantine/core'
import {
  IconCopy,
  IconDots,
  IconDownload,
  IconEyeOff,
  IconFileCheck,
  IconPencil,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { useBlueprintActions } from './use-actions'
import { blueprintMenuText } from '../../text/blueprints'
import { commonText } from '../../text/common'

type Props = {
  blueprint: { id: string; title: string; status: string; can_manage: boolean }
  /** Opens the dialog that starts a run; absent if there is a separate button. */
  onRun?: () => void
  /** Adds an item that opens the blueprint, for menus in a list. */
  open?: boolean
  /** A button without a border, as the others in the row. */
  quiet?: boolean
}

/** All actions for a blueprint. */
export function BlueprintMenu({ blueprint, onRun, open = false, quiet = open }: Props) {
  const actions = useBlueprintActions()
  const [, navigate] = useLocation()
  const icon = { size: 16, 'aria-hidden': true } as const
  return (
    <Menu position="bottom-end" width={210}>
      <Menu.Target>
        <ActionIcon
          aria-label={blueprintMenuText.moreActionsFor(blueprint.title)}
          loading={actions.busy}
          variant={quiet ? 'subtle' : 'default'}
          size={open ? 'lg' : 36}
        >
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {open && (
          <Menu.Item
            leftSection={<IconPencil {...icon} />}
            onClick={() => navigate(`/blueprints/${blueprint.id}/edit`)}
          >
            {commonText.open}
          </Menu.Item>
        )}
        {onRun && (
          <Menu.Item leftSection={<IconPlayerPlay {...icon} />} onClick={onRun}>
            {commonText.run}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconCopy {...icon} />} onClick={() => actions.duplicate(blueprint)}>
          {blueprintMenuText.duplicate}
        </Menu.Item>
        <Menu.Item leftSection={<IconDownload {...icon} />} onClick={() => actions.exportFile(blueprint)}>
          {blueprintMenuText.exportToFile}
        </Menu.Item>
        {blueprint.can_manage &&
          (blueprint.status === 'published' ? (
            <Menu.Item
              leftSection={<IconEyeOff {...icon} />}
              onClick={() => actions.setStatus({ ...blueprint, status: 'draft' })}
            >
              {blueprintMenuText.unpublish}
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconFileCheck {...icon} />}
              onClick={() => actions.setStatus({ ...blueprint, status: 'published' })}
            >
              {commonText.publish}
            </Menu.Item>
          ))}
        {blueprint.can_manage && (
          <>
            <Menu.Divider />
            <Menu.Item
              c="var(--mantine-color-red-text)"
              leftSection={<IconTrash {...icon} />}
              onClick={() => void actions.remove(blueprint)}
            >
              {commonText.delete}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
