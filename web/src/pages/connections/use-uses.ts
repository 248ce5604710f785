import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { usersOf } from './uses'

const perPage = 50
const most = 4 // pages of the user's own blueprints, and of shared ones

/**
 * The blueprints, triggers and connections that use a connection, by its id; `whole` unless there were too many to
 * read. It makes many requests, so enable it only if there is a connection.
 */
export function useUses(enabled = true) {
  return useQuery({ enabled, queryKey: ['connection', 'uses'], queryFn: look, staleTime: 60_000, retry: false })
}

async function look() {
  const [own, shared, triggers, connections] = await Promise.all([
    blueprints('own'),
    blueprints('shared'),
    api.blueprintTriggers.listAll.query({ type: 'slack', limit: 100 }),
    api.connection.list.query(),
  ])
  const whole = own.whole && shared.whole && triggers.pagination.totalPages <= 1
  return { users: usersOf({ blueprints: [...own.data, ...shared.data], triggers: triggers.data, connections }), whole }
}

async function blueprints(scope: 'own' | 'shared') {
  const data = []
  for (let page = 1; ; page++) {
    const answer = await api.blueprint.list.query({ scope, page, limit: perPage })
    data.push(...answer.data)
    if (page >= answer.pagination.totalPages) return { data, whole: true }
    if (page >= most) return { data, whole: false }
  }
}
