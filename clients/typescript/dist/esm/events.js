// An EventSource for runtimes that have none, or whose own can send no headers. It does what the client of tRPC asks of
// one: https://html.spec.whatwg.org/multipage/server-sent-events.html without what no blueprintd server sends.
/** How long to wait before connecting again, in milliseconds. */
const reconnectAfter = 1000;
/** Makes the class, whose instances send these headers. */
export function eventSource(fetch, headers) {
    return class {
        url;
        CONNECTING = 0;
        OPEN = 1;
        CLOSED = 2;
        readyState = 0;
        listeners = new Map();
        stopped = new AbortController();
        lastEventId = '';
        constructor(url, _options) {
            this.url = url;
            void this.run();
        }
        addEventListener(type, listener) {
            const list = this.listeners.get(type) ?? new Set();
            this.listeners.set(type, list.add(listener));
        }
        removeEventListener(type, listener) {
            this.listeners.get(type)?.delete(listener);
        }
        close() {
            this.readyState = this.CLOSED;
            this.stopped.abort();
        }
        async run() {
            while (this.readyState !== this.CLOSED) {
                let problem = 'the stream ended';
                try {
                    const again = this.lastEventId ? { 'last-event-id': this.lastEventId } : {};
                    const answer = await fetch(this.url, { headers: { ...headers, ...again, accept: 'text/event-stream' }, signal: this.stopped.signal });
                    if (answer.status !== 200 || !answer.body) {
                        this.readyState = this.CLOSED; // what is refused once is refused again
                        problem = `Non-200 status code (${answer.status})`;
                    }
                    else {
                        this.readyState = this.OPEN;
                        await this.read(answer.body);
                    }
                }
                catch (error) {
                    problem = String(error);
                }
                if (this.stopped.signal.aborted)
                    return;
                if (this.readyState !== this.CLOSED)
                    this.readyState = this.CONNECTING;
                this.emit({ type: 'error', data: problem, lastEventId: '' }, problem);
                if (this.readyState === this.CONNECTING)
                    await new Promise((resolve) => setTimeout(resolve, reconnectAfter));
            }
        }
        /** Takes a stream apart: lines, and an empty one after each message. */
        async read(body) {
            const decoder = new TextDecoder();
            let rest = '';
            let [type, data] = ['', []];
            const reader = body.getReader();
            for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
                const lines = (rest + decoder.decode(chunk.value, { stream: true })).split('\n');
                rest = lines.pop() ?? '';
                for (const line of lines) {
                    const [, field = '', value = ''] = /^([^:]*):? ?(.*?)\r?$/.exec(line) ?? [];
                    if (field === 'event')
                        type = value;
                    if (field === 'data')
                        data.push(value);
                    if (field === 'id')
                        this.lastEventId = value;
                    if (field !== '' || line.startsWith(':'))
                        continue;
                    if (data.length > 0)
                        this.emit({ type: type || 'message', data: data.join('\n'), lastEventId: this.lastEventId });
                    [type, data] = ['', []];
                }
            }
        }
        emit(event, message) {
            for (const listener of this.listeners.get(event.type) ?? [])
                listener(message === undefined ? event : Object.assign(new Error(message), event));
        }
    };
}
