import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { BlueprintMap } from '../../graph/map'
import { notifyError } from '../../parts'
import { type Pins, pinsAfter, readPins, showPins } from './pins'

/** The pinned outputs of the nodes of a blueprint's map, which the browser keeps. */
export function usePins(blueprintId: string, map: BlueprintMap) {
  const key = `blueprintd.editor.pins.${blueprintId}`
  const [pins, setPins] = useState<Pins>(() => readPins(localStorage.getItem(key)))
  const seen = useRef(map)
  const follow = useEffectEvent((before: BlueprintMap) => setPins(pinsAfter(pins, before, map)))
  useEffect(() => {
    follow(seen.current)
    seen.current = map
  }, [map])
  useEffect(() => store(key, pins), [key, pins])
  const keep = (next: Pins) => {
    try {
      store(key, next)
      setPins(next)
    } catch (error) {
      notifyError(error) // the browser's store is full
    }
  }
  return {
    pins,
    pin: (id: string, output: unknown) => keep({ ...pins, [id]: output }),
    unpin(id: string) {
      const { [id]: _, ...others } = pins
      keep(others)
    },
  }
}

function store(key: string, pins: Pins): void {
  const text = showPins(pins)
  if (text === undefined) localStorage.removeItem(key)
  else if (text !== localStorage.getItem(key)) localStorage.setItem(key, text)
}
