import { useEffect, useEffectEvent, useLayoutEffect } from 'react'
import { findPlace, placeText } from './address'
import type { Editor } from './use-editor'

/** Keeps the level and the single selected node in the address, so that a reload or a link restores them. */
export function useAddress(editor: Editor): void {
  const { level, nodes } = editor.state
  const begin = useEffectEvent(() => {
    const { level: wanted, nodeId } = findPlace(editor.doc.map, new URLSearchParams(location.search).get('node') ?? '')
    if (wanted.length > 0 || nodeId !== undefined) editor.enter(wanted, nodeId === undefined ? [] : [nodeId])
  })
  useLayoutEffect(() => begin(), []) // the address is updated later
  const text = placeText(level, nodes.size === 1 ? [...nodes][0] : undefined)
  useEffect(() => {
    const address = new URL(location.href)
    if ((address.searchParams.get('node') ?? '') === text) return
    if (text === '') address.searchParams.delete('node')
    else address.searchParams.set('node', text)
    history.replaceState(history.state, '', address) // not a navigation: the rest of the page stays
  }, [text])
}
