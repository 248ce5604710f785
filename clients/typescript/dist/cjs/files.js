"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.createFile = createFile;
const node_child_process_1 = require("node:child_process");
const node_path_1 = require("node:path");
const node_util_1 = require("node:util");
/** What a new blueprint takes from a file besides its title. */
const stored = ['description', 'status', 'tags', 'blueprint_map', 'environment_variables', 'budget'];
/** Stores the blueprint of a file with its triggers, and those of the files to which it refers. */
async function createFile(client, binary, path) {
    const done = new Map(); // by path; undefined while one is being stored
    let connections;
    async function create(path) {
        if (done.has(path)) {
            const made = done.get(path);
            if (!made)
                throw new Error(`${path} refers to itself, directly or through other files`);
            return made;
        }
        done.set(path, undefined);
        const { stdout } = await (0, node_util_1.promisify)(node_child_process_1.execFile)(binary, ['convert', path], { maxBuffer: 1 << 28, windowsHide: true });
        const { title, visibility, triggers = [], ...rest } = (await resolve(path, JSON.parse(stdout)));
        const fields = Object.entries(rest).filter(([name, value]) => stored.includes(name) && value !== undefined);
        const { id } = await client.blueprint.create.mutate({ title, ...Object.fromEntries(fields) });
        if (visibility)
            await client.blueprint.update.mutate({ id, visibility });
        const triggerIds = [];
        for (const { triggerType, config = {}, isActive = true } of triggers) {
            const trigger = await client.blueprintTriggers.create.mutate({ blueprintId: id, triggerType, config, isActive });
            triggerIds.push(trigger.id);
        }
        const made = { id, triggerIds };
        done.set(path, made);
        return made;
    }
    /** Replaces the references in a value by ids, one after the other, so that a run of the test repeats the same calls. */
    async function resolve(path, value) {
        if (Array.isArray(value)) {
            const items = [];
            for (const item of value)
                items.push(await resolve(path, item));
            return items;
        }
        if (!isObject(value))
            return value;
        const members = [];
        for (const [name, member] of Object.entries(value)) {
            if (name === 'mcpConnectionIds' && Array.isArray(member)) {
                const ids = [];
                for (const item of member)
                    ids.push(await identify(path, 'connectionId', item));
                members.push([name, ids]);
            }
            else
                members.push([name, await identify(path, name, member)]);
        }
        return Object.fromEntries(members);
    }
    async function identify(path, name, member) {
        const connection = name === 'connectionId' ? referred(member, '$connection') : undefined;
        if (connection !== undefined)
            return connectionNamed(connection);
        const file = name === 'blueprintId' ? referred(member, '$blueprint') : undefined;
        if (file !== undefined)
            return (await create((0, node_path_1.join)((0, node_path_1.dirname)(path), file))).id;
        return resolve(path, member);
    }
    async function connectionNamed(name) {
        connections ??= await client.connection.list.query({});
        const found = connections.filter((connection) => connection.name === name);
        if (found.length > 1)
            throw new Error(`there are ${found.length} connections with the name "${name}"; rename all but one`);
        if (found[0])
            return found[0].id;
        const known = [...new Set(connections.map((connection) => connection.name))].sort();
        const advice = known.length ? `the server has ${known.join(', ')}` : 'add it to the seed file, or create it with connection.create';
        throw new Error(`there is no connection "${name}"; ${advice}`);
    }
    return create((0, node_path_1.normalize)(path));
}
function isObject(value) {
    return typeof value === 'object' && value !== null;
}
/** The name in an object that has only this key. */
function referred(value, key) {
    if (!isObject(value) || Object.keys(value).length !== 1)
        return undefined;
    const name = value[key];
    return typeof name === 'string' ? name : undefined;
}
