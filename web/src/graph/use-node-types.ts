import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client'

/** The catalogue of node types; it stays the same while the server runs. */
export function useNodeTypes() {
  return useQuery({ queryKey: ['node', 'types'], queryFn: () => api.node.types.query(), staleTime: Infinity })
}
