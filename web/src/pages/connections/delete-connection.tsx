import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { IconTrash } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { api, type Inputs } from '../../api/client'
import { confirm, notifyDone, notifyError } from '../../parts'
import type { Connection } from './types'
import { useUses } from './use-uses'
import { deleteConnectionText } from '../../text/connections'
import { commonText } from '../../text/common'

/** Deletes a connection, after showing where it is used. */
export function DeleteConnection({ of }: { of: Connection }) {
  const client = useQueryClient()
  const [, navigate] = useLocation()
  const uses = useUses()
  const remove = useMutation({
    mutationFn: (input: Inputs['connection']['delete']) => api.connection.delete.mutate(input),
    onSuccess: () => {
      notifyDone(deleteConnectionText.deleted(of.name))
      navigate('/connections')
      client.removeQueries({ queryKey: ['connection', 'get', of.id] })
      void client.invalidateQueries({ queryKey: ['connection'] })
    },
    onError: notifyError,
  })
  const ask = async () => {
    const users = uses.data?.users.get(of.id) ?? []
    const used =
      users.length > 0
        ? deleteConnectionText.itIsUsedInPlacesThose(
            users.length,
            users
              .slice(0, 3)
              .map((user) => user.title)
              .join(', '),
            users.length > 3 ? deleteConnectionText.andOthers : '',
          )
        : ''
    const yes = await confirm({
      title: deleteConnectionText.delete(of.name),
      text: deleteConnectionText.thisRemovesItsCredentialsAnd(used),
      action: commonText.delete,
      danger: true,
      typed: users.length > 0 ? of.name : undefined,
    })
    if (yes) remove.mutate({ id: of.id })
  }
  return (
    <Button
      variant="default"
      leftSection={<IconTrash size={17} aria-hidden />}
      loading={remove.isPending}
      onClick={() => void ask()}
    >
      {commonText.delete}
    </Button>
  )
}
