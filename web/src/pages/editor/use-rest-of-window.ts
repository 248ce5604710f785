import { useLayoutEffect, useRef } from 'react'

/** The ref of a box that extends to the end of the window. */
export function useRestOfWindow() {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const fit = () => {
      const box = frame.current
      if (!box) return
      const footer = document.querySelector<HTMLElement>('[data-footer]')
      const below = footer && getComputedStyle(footer).display !== 'none' ? footer.getBoundingClientRect().height : 0
      box.style.height = `${Math.max(400, innerHeight - box.getBoundingClientRect().top - scrollY - below)}px`
    }
    fit()
    addEventListener('resize', fit)
    const observer = new ResizeObserver(fit)
    if (frame.current?.parentElement) observer.observe(frame.current.parentElement)
    return () => {
      removeEventListener('resize', fit)
      observer.disconnect()
    }
  }, [])
  return frame
}
