import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { describeError, isAborted } from '../api/errors'
import { commonText } from '../text/common'

const close = { 'aria-label': commonText.close }

/** Shows an error in the corner until it is closed. For what was done by a button far from any form; else ErrorNote. */
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
    message: code === 'UNKNOWN' ? undefined : hint, // an error of our own says itself what to do
  })
}

/** Says in the corner, for some seconds, that something was done: `notifyDone('Saved version 1.2.0')`. */
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
