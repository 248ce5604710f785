/** Shows and edits one node, and the variables of a blueprint. */
export { NodeInspector } from './node-inspector'
export { VariablesEditor, type VariablesEditorProps } from './variables-editor'
export type { Around, LastRun, LastStep, NodeInspectorProps, NodeTypeInfo } from './types'
export { scopeOf } from './scope'
