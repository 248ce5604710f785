import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, type Outputs } from '../../api/client'
import { normalType } from '../../graph/map'
import { knownExpressions, type Expressions } from './references'

/** A type of the catalogue. */
export type NodeType = Outputs['node']['types'][number]

/** The catalogue of node types; it stays the same while the server runs. */
export function useNodeTypes() {
  return useQuery({ queryKey: ['node', 'types'], queryFn: () => api.node.types.query(), staleTime: Infinity })
}

/** Which config keys of a type are expressions. */
export function useExpressions(types: NodeType[]): Expressions {
  return useMemo(() => {
    const known = new Map(types.map((type) => [type.type, type.expressions]))
    return (type) => known.get(normalType(type)) ?? knownExpressions(type)
  }, [types])
}
