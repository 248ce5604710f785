/**
 * Parts of a run's page that are loaded on demand: in one file, because chunks as small as these would be merged into
 * those of other pages.
 */
export { Retry } from './retry-form'
export { Cancel } from './run-action-forms'
export { SaveTest } from './save-test'
export { TrafficList } from './traffic-list'
