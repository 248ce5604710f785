/** The objects of a seed file, by their names in it. */
export interface Seed {
    users?: {
        email: string;
        id: string;
    }[];
    organizations?: {
        name: string;
        id: string;
    }[];
    connections?: {
        name: string;
        id: string;
    }[];
    blueprints?: {
        title: string;
        id: string;
        triggers?: {
            id: string;
            triggerType: string;
            url?: string;
        }[];
    }[];
}
/** The output of a server that is ready. */
export interface Ready {
    baseUrl: string;
    apiHost: string;
    dashboardUrl: string;
    smtpAddr?: string;
    apiKey: string;
    pid: number;
    seed?: Seed;
}
/** A running server. */
export interface Running {
    ready: Ready;
    binary: string;
    logs(): string;
    stop(): Promise<void>;
}
/** Starts `blueprintd serve`, which lives as long as a pipe that this process holds. */
export declare function launch(option: string | undefined, flags: string[]): Promise<Running>;
