import type { Client } from './client.js';
interface Stored {
    id: string;
    triggerIds: string[];
}
/** Stores the blueprint of a file with its triggers, and those of the files to which it refers. */
export declare function createFile(client: Client, binary: string, path: string): Promise<Stored>;
export {};
