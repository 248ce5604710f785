import { useState } from 'react'
import { notifyError } from '../../parts'
import { type Pins, readPins, showPins } from './pins'

/** The pinned outputs of a blueprint's nodes, which the browser keeps. */
export function usePins(blueprintId: string) {
  const key = `blueprintd.editor.pins.${blueprintId}`
  const [pins, setPins] = useState<Pins>(() => readPins(localStorage.getItem(key)))
  const keep = (next: Pins) => {
    try {
      const text = showPins(next)
      if (text === undefined) localStorage.removeItem(key)
      else localStorage.setItem(key, text)
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
