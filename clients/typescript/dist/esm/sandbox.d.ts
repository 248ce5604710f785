/** One message of a node to another service, and what the sandbox answered. */
export interface Call {
    at: string;
    executionId: string;
    nodeId: string;
    nodeType: string;
    /** A mail has the method MAIL. An empty body is "". */
    request: {
        method: string;
        url: string;
        headers: Record<string, string>;
        body: unknown;
    };
    /** null if there was none; `error` is the reason. An empty body is "". */
    response: {
        status: number;
        headers: Record<string, string>;
        body: unknown;
    } | null;
    error?: string;
    /** The approval links in the request, where they are masked. */
    approvalLinks?: string[];
}
/** Selects messages: all given members must fit; * matches anything. `procedure` and `route` are of the server itself: "blueprint.execute", "webhooks". */
export interface Match {
    procedure?: string;
    route?: string;
    host?: string;
    nodeType?: string;
    method?: string;
    path?: string;
    nodeId?: string;
    executionId?: string;
    /** The method of a message to an MCP server. Without it, only tools/call matches. */
    rpc?: string;
    /** Parameters that the URL must have. */
    query?: Record<string, unknown>;
    /** Members that the body must have. */
    body?: unknown;
}
/** A request that has to be made. */
export interface Expectation {
    match: Match;
    /** How often. Default: at least once. */
    times?: number | {
        min?: number;
        max?: number;
    };
    /** Members that the request must have. */
    request?: {
        method?: string;
        url?: string;
        headers?: Record<string, string>;
        body?: unknown;
    };
}
/** Whether all expectations are met. */
export interface Verdict {
    met: boolean;
    unmet: {
        expect: unknown;
        came: number;
        problem: string;
        index: number;
    }[];
}
/** Which messages to list. */
export interface CallFilter {
    executionId?: string;
    nodeType?: string;
    host?: string;
    limit?: number;
}
/** A webhook to send to a trigger of the server. */
export interface Sending {
    /** The trigger's id. */
    webhook: string;
    body: unknown;
    preset?: 'github' | 'stripe' | 'slack' | 'standard';
    headers?: Record<string, string>;
}
/** An answer of the sandbox that replaces a fake, or the call of a procedure. */
export interface Rule {
    /** The messages that it answers. */
    match: Match;
    /** How often. Default: always. */
    times?: number;
    answer: Answer;
}
/** The answer of a rule. `text`, `json`, `toolCalls` and `usage` answer for a model and need a match with the node type ai-prompt. */
export interface Answer {
    status?: number;
    headers?: Record<string, string>;
    body?: unknown;
    delayMs?: number;
    /** Close the connection. */
    close?: boolean;
    /** For a procedure: refuse the whole batch before any call is made, as the rate limit does. */
    whole?: boolean;
    /** Fail to connect, with this reason. */
    error?: string;
    /** Pause the run with this prompt; the input that it is resumed with is the node's output. */
    pause?: string | {
        prompt: string;
        kind?: 'human' | 'approval';
    };
    /** The text of the model. */
    text?: string;
    /** The text of the model, as a JSON value. */
    json?: unknown;
    /** The tools that the model calls. */
    toolCalls?: {
        name: string;
        arguments?: Record<string, unknown>;
    }[];
    /** The number of tokens that the model reports. Default: by the length of the texts. */
    usage?: {
        inputTokens?: number;
        outputTokens?: number;
    };
}
