import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { api } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { useSignedIn } from '../../api/session'
import { confirm, notifyDone, notifyError } from '../../parts'
import { download } from '../../parts/download'
import { fileName, toFile } from './file'
import { noteChange } from '../../api/use-blueprint'
import { actionsText } from '../../text/blueprints'

/** The part of a blueprint that the actions need. */
export type Target = { id: string; title: string; can_manage: boolean }

const longestTyped = 60

/** The actions of a blueprint's menu, in the list and on its pages. Errors are shown as notifications. */
export function useBlueprintActions() {
  const [path, navigate] = useLocation()
  const { organizations } = useSignedIn()
  const duplicate = useMutation({
    mutationFn: async ({ id }: Target) => {
      const { title, description, tags, blueprint_map, environment_variables, budget, organization_id } =
        await api.blueprint.get.query({ id })
      return api.blueprint.create.mutate({
        title: actionsText.copyOf(title).slice(0, 500),
        description,
        tags,
        environment_variables,
        ...(blueprint_map ? { blueprint_map: blueprint_map as Record<string, unknown> } : {}),
        ...(budget ? { budget } : {}),
        ...(organizations.some((one) => one.id === organization_id) ? { organization_id } : {}),
      })
    },
    onSuccess: (copy) => {
      void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
      notifyDone(actionsText.createdAsADraftTriggersAre(copy.title))
      navigate(`/blueprints/${copy.id}/edit`)
    },
    onError: notifyError,
  })
  const save = useMutation({
    // The server lists triggers only for managers; the files of other users contain none.
    mutationFn: async ({ id, can_manage }: Target) =>
      Promise.all([
        api.blueprint.get.query({ id }),
        can_manage ? api.blueprintTriggers.list.query({ blueprintId: id }) : [],
      ]),
    onSuccess: ([blueprint, triggers]) => download(fileName(blueprint.title), toFile(blueprint, triggers)),
    onError: notifyError,
  })
  const setStatus = useMutation({
    mutationFn: ({ id, status }: Target & { status: 'draft' | 'published' }) =>
      api.blueprint.update.mutate({ id, status }),
    onSuccess: (after) => {
      noteChange(after.id, after)
      notifyDone(
        after.status === 'published' ? actionsText.published(after.title) : actionsText.unpublished(after.title),
      )
    },
    onError: notifyError,
  })
  const remove = useMutation({
    mutationFn: ({ id }: Target) => api.blueprint.delete.mutate({ id }),
    onSuccess: (_answer, { id, title }) => {
      notifyDone(actionsText.deleted(title))
      if (path.startsWith(`/blueprints/${id}`)) navigate('/blueprints')
      queryClient.removeQueries({ queryKey: ['blueprint', id], type: 'inactive' })
      void queryClient.invalidateQueries({ queryKey: ['blueprints'] })
    },
    onError: notifyError,
  })
  return {
    duplicate: duplicate.mutate,
    exportFile: save.mutate,
    setStatus: setStatus.mutate,
    /** Asks for confirmation first. */
    async remove(target: Target): Promise<void> {
      const { title } = target
      const agreed = await confirm({
        title: actionsText.delete(title.length > 80 ? `${title.slice(0, 79)}…` : title),
        text: actionsText.thisAlsoDeletesItsVersionsAnd,
        action: actionsText.deleteBlueprint,
        danger: true,
        typed: title.length <= longestTyped ? title : undefined,
      })
      if (agreed) remove.mutate(target)
    },
    busy: duplicate.isPending || save.isPending || setStatus.isPending || remove.isPending,
  }
}
