import { fileURLToPath } from 'node:url'

/** The folder of this package. The build writes the form of this module for require, where import.meta does not exist. */
// @ts-ignore TypeScript refuses import.meta in the build for require
export const packageFolder: string = fileURLToPath(new URL('../..', import.meta.url))
