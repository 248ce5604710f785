import { notifications } from '@mantine/notifications'
import { IconHandStop } from '@tabler/icons-react'
import { commonText } from '../../text/common'

/** Shows a notification with the reason why something was not done. */
export function refuse(why: string): void {
  notifications.show({
    color: 'amber',
    role: 'alert',
    autoClose: 9000,
    closeButtonProps: { 'aria-label': commonText.close },
    icon: <IconHandStop size={18} aria-hidden />,
    message: why,
  })
}
