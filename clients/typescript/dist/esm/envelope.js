/**
 * What carries values: the server takes and gives plain JSON in superjson's envelope, so superjson itself is not needed.
 * A Date goes as its ISO string, a field that is undefined is left out.
 */
export const envelope = {
    serialize: (value) => (value === undefined ? undefined : { json: value }),
    deserialize: (value) => value?.json,
};
