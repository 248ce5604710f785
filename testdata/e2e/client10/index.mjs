// A folder of its own, because the client of version 10 loads parts of @trpc/server 10, which
// cannot be installed beside version 11 in one node_modules.
export * from '@trpc/client';
export { default as superjson } from 'superjson';
