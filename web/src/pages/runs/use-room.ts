import { type RefObject, useLayoutEffect, useState } from 'react'

const least = 280

/**
 * The height in pixels that an element may have to end within the window while the page is scrolled to its top;
 * undefined if that is too little to be useful.
 */
export function useRoom(ref: RefObject<HTMLElement | null>): number | undefined {
  const [room, setRoom] = useState<number>()
  useLayoutEffect(() => {
    const measure = () => {
      if (!ref.current) return
      const top = ref.current.getBoundingClientRect().top + window.scrollY
      const left = Math.floor(window.innerHeight - top - 16)
      setRoom(left < least ? undefined : left)
    }
    measure()
    const observer = new ResizeObserver(measure) // content above may change its height
    observer.observe(document.body)
    window.addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', measure)
    }
  }, [ref])
  return room
}
