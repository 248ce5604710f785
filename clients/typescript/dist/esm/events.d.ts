/** What the client of tRPC asks of an EventSource. */
export interface EventStream {
    readonly CONNECTING: number;
    readonly OPEN: number;
    readonly CLOSED: number;
    readyState: number;
    addEventListener(type: string, listener: (event: never) => void): void;
    removeEventListener(type: string, listener: (event: never) => void): void;
    close(): void;
}
/** Makes the class, whose instances send these headers. */
export declare function eventSource(fetch: typeof globalThis.fetch, headers: Record<string, string>): new (url: string, options?: object) => EventStream;
