import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { describeError, isAborted } from '../api/errors'
import { commonText } from '../text/common'

const close = { 'aria-label': commonText.close }

/**
 * Shows an error notification until it is closed. For actions of a button away from any form; otherwise use ErrorNote.
 */
export function notifyError(error: unknown, ..._rest: unknown[]): void {
  if (isAborted(error)) return
  const { message, hint, code } = describeError(error)
  notifications.show({
    color: 'red',
    role: 'alert',
    autoClose: false,
    closeButtonProps: close,
    icon: <IconAlertTriangle size={18} aria-hidden />,
    title: message,
    message: code === 'UNKNOWN' ? undefined : hint, // an error of the dashboard itself already says what to do
  })
}

/** Shows a notification for some seconds: `notifyDone('Saved version 1.2.0')`. */
export function notifyDone(message: string): void {
  notifications.show({
    color: 'green',
    role: 'status',
    autoClose: 4000,
    closeButtonProps: close,
    icon: <IconCheck size={18} aria-hidden />,
    message,
  })
}
