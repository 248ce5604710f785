import { carry } from './digits'

/** An EventSource whose messages keep the digits of numbers in the client (see digits.ts). */
export class EventStream extends EventSource {
  override addEventListener(type: string, listener: unknown, options?: boolean | AddEventListenerOptions): void {
    const call = listener as (event: Event) => void
    if (type !== 'message' || typeof listener !== 'function') return super.addEventListener(type, call, options)
    super.addEventListener(
      type,
      (event) => {
        const data = carry(event.data as string)
        call.call(
          this,
          data === event.data ? event : new MessageEvent('message', { data, lastEventId: event.lastEventId }),
        )
      },
      options,
    )
  }
}
