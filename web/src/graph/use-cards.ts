import { useState } from 'react'
import { type CardNode, toCards } from './flow'
import type { BlueprintMap } from './map'

type Shown = NonNullable<Parameters<typeof toCards>[1]>

/** The cards of a map. Unchanged cards keep their identity, so that only the others are rendered again. */
export function useCards(map: BlueprintMap, { statuses, diff, problems, pinned, editable }: Shown): CardNode[] {
  const [last, setLast] = useState<{ map: BlueprintMap; shown: Shown; cards: CardNode[] }>()
  if (
    last &&
    last.map === map &&
    last.shown.statuses === statuses &&
    last.shown.diff === diff &&
    last.shown.problems === problems &&
    last.shown.pinned === pinned &&
    last.shown.editable === editable
  )
    return last.cards
  const shown = { statuses, diff, problems, pinned, editable }
  const cards = toCards(map, shown, last?.cards)
  setLast({ map, shown, cards })
  return cards
}
