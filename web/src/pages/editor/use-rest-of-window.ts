import { type RefObject, useLayoutEffect } from 'react'

/** Makes a box reach from where it stands to the end of the window. */
export function useRestOfWindow(frame: RefObject<HTMLDivElement | null>) {
  useLayoutEffect(() => {
    const fit = () => {
      const box = frame.current
      if (!box) return
      const footer = document.querySelector<HTMLElement>('footer, .mantine-AppShell-footer')
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
  }, [frame])
}
