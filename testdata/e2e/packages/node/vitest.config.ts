import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['vitest/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 3, minWorkers: 1 } })
