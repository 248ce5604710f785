import { type Client, type Outputs } from './client.js';
import { type Seed } from './process.js';
import type { Call, CallFilter, Expectation, Rule, Sending, Verdict } from './sandbox.js';
/** Options of `startBlueprintd`. */
export interface StartOptions {
    /** The executable. Default: BLUEPRINTD_BINARY, or blueprintd on the PATH. */
    binary?: string;
    /** The API key of the server's owner. */
    apiKey?: string;
    /** The initial time of the virtual clock, or 'real'. Default: 2000-01-01T00:00:00Z, until advance moves it. */
    clock?: 'real' | Date | string;
    /** Whether nodes reach built-in fakes of other services instead of the services. */
    sandbox?: boolean;
    /** The seed of ids, keys and random numbers, which are then the same in every run. */
    seedIds?: number;
    /** A YAML or JSON file with the initial users, blueprints and triggers. */
    seedFile?: string;
    /** Additional flags of `blueprintd serve`. */
    args?: string[];
}
/** The state of a run. */
export type Execution = Outputs['execution']['getExecutionStatus'];
/** The response to a webhook; `body` is parsed if it is JSON. */
export interface WebhookAnswer {
    status: number;
    headers: Headers;
    body: unknown;
}
/** A server for tests, started by them or already running. */
export interface Connected {
    /** Of the procedures; ends in /api/trpc. */
    readonly baseUrl: string;
    readonly apiHost: string;
    readonly apiKey: string;
    readonly client: Client;
    /** The time of the virtual clock, and the next instant at which something is due. */
    now(): Promise<{
        now: string;
        next?: string;
    }>;
    /** Moves the clock by '36h', or by milliseconds, through everything that falls due. Returns the time and the number of runs that triggers started. */
    advance(by: string | number): Promise<{
        now: string;
        fired: number;
    }>;
    /** Moves the clock to an instant. */
    advanceTo(at: Date | string): Promise<{
        now: string;
        fired: number;
    }>;
    /**
     * Stores the blueprint of a file, YAML or JSON, with its triggers. A reference such as {$connection: crm} becomes the id of the
     * connection with that name, which must exist. The file of {$blueprint: child.blueprint.yaml} is stored too.
     */
    createFile(path: string): Promise<{
        id: string;
        triggerIds: string[];
    }>;
    /** Waits until a run is completed, failed or paused; at most 30 s unless said otherwise. */
    wait(executionId: string, options?: {
        timeoutMs?: number;
    }): Promise<Execution>;
    /** Answers a paused run and waits until it is completed, failed or paused again. The input of an approval is `{ approved: true }`. */
    resume(executionId: string, input: unknown): Promise<Execution>;
    /** Delivers a body, as JSON unless it is a string or bytes, to a webhook trigger. */
    webhook(triggerId: string, body: unknown, headers?: Record<string, string>): Promise<WebhookAnswer>;
    /** The messages of all nodes so far, or those that fit (sandbox). */
    calls(filter?: CallFilter): Promise<Call[]>;
    /** Replaces the rules of the sandbox; the first that matches answers. */
    rules(rules: Rule[]): Promise<void>;
    /** Says what has to be asked of the sandbox, from now on. */
    expect(expectations: Expectation[]): Promise<void>;
    /** Whether all that was expected has come, and what has not. */
    verify(): Promise<Verdict>;
    /** Sends a signed webhook to one of the server's triggers, as the service of its preset would (sandbox). */
    send(sending: Sending): Promise<unknown>;
    /** Forgets the calls and the rules of the sandbox. */
    reset(): Promise<void>;
}
/** A server of one's own: on this machine, everything in memory, gone with stop. */
export interface Blueprintd extends Connected {
    readonly dashboardUrl: string;
    readonly pid: number;
    /** What the seed file made, with ids and addresses. */
    readonly seed?: Seed;
    /** What the server wrote to its log. */
    logs(): string;
    /** Stops the server and waits until it is gone. */
    stop(): Promise<void>;
    /** Does as stop: `await using blueprintd = await startBlueprintd()`. */
    [Symbol.asyncDispose](): Promise<void>;
}
/** Starts a server and waits until it is ready, which takes milliseconds. It ends with stop, and with this process at the latest. */
export declare function startBlueprintd(options?: StartOptions): Promise<Blueprintd>;
/** Uses a server that runs already, such as a service container; `createFile` needs the program on this machine, too. */
export declare function connectBlueprintd({ url, apiKey, binary }: {
    url: string;
    apiKey: string;
    binary?: string;
}): Connected;
