import { useState } from 'react'
import { show } from '../../api/json'

/** A value that is edited before it is saved. Until it is edited, it follows changes of the stored value. */
export function useDraft<Value>(stored: Value): [value: Value, set: (value: Value) => void, changed: boolean] {
  const [draft, setDraft] = useState({ stored, value: stored })
  if (!same(draft.stored, stored)) setDraft({ stored, value: same(draft.value, draft.stored) ? stored : draft.value })
  return [draft.value, (value) => setDraft((before) => ({ ...before, value })), !same(draft.value, stored)]
}

function same(one: unknown, other: unknown): boolean {
  return show(one) === show(other)
}
