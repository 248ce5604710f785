/** What of a run's page is fetched when it is wanted: one file, for parts as small as these would be put into those of other pages. */
export { Cancel, Retry } from './run-action-forms'
export { SaveTest } from './save-test'
export { TrafficList } from './traffic-list'
