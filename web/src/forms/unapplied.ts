import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import type { Step } from './path'

/** A text in a field that is not a value yet, such as incomplete JSON. */
export type Unapplied<Place = unknown> = {
  place: Place
  /** The field, relative to the place. */
  path: readonly Step[]
  text: string
  /** Why it is not applied. */
  message: string
}

/**
 * The unapplied texts of a page's fields. They outlast their fields, so that typed text is kept while another node is
 * shown; a field that returns takes its text from here.
 */
export class UnappliedTexts {
  private texts: ReadonlyMap<string, Unapplied> = new Map()
  private fields = new Map<string, number>()
  private listeners = new Set<() => void>()

  /** All of them; the same object until one changes. */
  snapshot = (): ReadonlyMap<string, Unapplied> => this.texts

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** The last text of a field, if it was not applied. */
  at(place: unknown, path: readonly Step[]): string | undefined {
    return this.texts.get(keyOf(place, path))?.text
  }

  /** Stores a text, or removes it with undefined, when the field holds a value. */
  put(place: unknown, path: readonly Step[], entry: { text: string; message: string } | undefined): void {
    const key = keyOf(place, path)
    const known = this.texts.get(key)
    if ((!entry && !known) || (entry && known && known.text === entry.text && known.message === entry.message)) return
    const texts = new Map(this.texts)
    if (entry) texts.set(key, { place, path, ...entry })
    else texts.delete(key)
    this.change(texts)
  }

  /** Counts a field as shown until the returned function is called. */
  show(place: unknown, path: readonly Step[]): () => void {
    const key = keyOf(place, path)
    this.fields.set(key, (this.fields.get(key) ?? 0) + 1)
    return () => {
      const left = this.fields.get(key)! - 1
      if (left > 0) this.fields.set(key, left)
      else this.fields.delete(key)
    }
  }

  /** Drops the texts of a place whose fields are gone although the place is shown: their value was removed. */
  prune(place: unknown): void {
    const own = JSON.stringify(place)
    this.keep((entry, key) => this.fields.has(key) || JSON.stringify(entry.place) !== own)
  }

  /** Drops the texts that do not satisfy a predicate. */
  keep(wanted: (entry: Unapplied, key: string) => boolean): void {
    const texts = new Map([...this.texts].filter(([key, entry]) => wanted(entry, key)))
    if (texts.size < this.texts.size) this.change(texts)
  }

  private change(texts: ReadonlyMap<string, Unapplied>): void {
    this.texts = texts
    for (const listener of this.listeners) listener()
  }
}

function keyOf(place: unknown, path: readonly Step[]): string {
  return JSON.stringify([place, path])
}

/** Where the fields below store unapplied texts, and the path of the form from its place. */
export type UnappliedScope = { texts: UnappliedTexts; place: unknown; path: readonly Step[] }

/** The scope of the fields below; without one nothing is stored. */
export const UnappliedContext = createContext<UnappliedScope | undefined>(undefined)

/** The unapplied texts of a store, as they change. */
export function useUnappliedTexts(texts: UnappliedTexts): ReadonlyMap<string, Unapplied> {
  return useSyncExternalStore(texts.subscribe, texts.snapshot)
}

/** The unapplied text that a field at a path had when it was last shown. */
export function useKeptText(path: readonly Step[]): string | undefined {
  const scope = useContext(UnappliedContext)
  const [kept] = useState(() => scope?.texts.at(scope.place, [...scope.path, ...path]))
  return kept
}

/** Records that a field shows an unapplied text, and why; undefined if it shows its value. */
export function useNotApplied(path: readonly Step[], text: string, message: string | undefined): void {
  const scope = useContext(UnappliedContext)
  const key = JSON.stringify(path)
  useEffect(() => scope?.texts.show(scope.place, [...scope.path, ...(JSON.parse(key) as Step[])]), [scope, key])
  useEffect(
    () =>
      scope?.texts.put(
        scope.place,
        [...scope.path, ...(JSON.parse(key) as Step[])],
        message === undefined ? undefined : { text, message },
      ),
    [scope, key, text, message],
  )
}

/** Called by the component that shows all fields of a place: drops texts whose fields are gone. */
export function usePruneUnapplied(): void {
  const scope = useContext(UnappliedContext)
  useEffect(() => scope?.texts.prune(scope.place))
}
