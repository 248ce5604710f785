import { notifications } from '@mantine/notifications'
import { cleanup, configure } from '@testing-library/react'
import { afterEach, beforeEach, expect, vi } from 'vitest'

// What jsdom lacks of a browser: sizes, since it lays nothing out, and a few interfaces that ask for them.
const box = { width: 1000, height: 800 }

const cardBox = { width: 224, height: 60 }
const sizeOf = (element: Element) => (element.matches('.react-flow__node') ? cardBox : box)

class Observer {
  constructor(private readonly told: ResizeObserverCallback) {}
  observe(target: Element) {
    const contentRect = { ...box, x: 0, y: 0, top: 0, left: 0, right: box.width, bottom: box.height }
    this.told([{ target, contentRect } as unknown as ResizeObserverEntry], this as unknown as ResizeObserver)
  }
  unobserve() {}
  disconnect() {}
}

class Matrix {
  m22: number
  constructor(transform?: string) {
    this.m22 = Number(/scale\(([\d.]+)\)/.exec(transform ?? '')?.[1] ?? 1)
  }
}

Object.assign(globalThis, {
  ResizeObserver: Observer,
  DOMMatrixReadOnly: Matrix,
  EventSource: class {},
  CSS: { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') },
  scrollTo: () => undefined,
  matchMedia: (media: string) => ({
    matches: false,
    media,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    addListener: () => undefined,
    removeListener: () => undefined,
  }),
})
Object.defineProperties(HTMLElement.prototype, {
  offsetWidth: {
    get(this: HTMLElement) {
      return sizeOf(this).width
    },
  },
  offsetHeight: {
    get(this: HTMLElement) {
      return sizeOf(this).height
    },
  },
})
Object.assign(SVGElement.prototype, { getBBox: () => ({ x: 0, y: 0, width: 0, height: 0 }) })
Object.assign(document, { fonts: new EventTarget() })
Element.prototype.scrollIntoView = () => undefined

// On a busy machine an answer may take long. jsdom lays nothing out, so to leave out what is hidden costs much and finds little.
configure({ asyncUtilTimeout: 10_000, defaultHidden: true })
beforeEach(() => {
  localStorage.clear()
  vi.spyOn(console, 'error')
})
afterEach(() => {
  notifications.clean()
  cleanup()
  expect(vi.mocked(console.error).mock.calls, 'what React complains of').toEqual([])
})
