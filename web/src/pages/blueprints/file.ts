import { parseJson, show } from '../../api/json'
import { isObject, type JsonObject } from '../../graph/map'
import { fileStem } from '../../parts/file-stem'
import { checkJson } from '../../parts/json-check'
import { fileText } from '../../text/blueprints'

/** A trigger in a blueprint file. */
export type FileTrigger = { triggerType: string; config: JsonObject; isActive?: boolean }
/** A blueprint in the format of `blueprintd export --json`, which `run`, `validate` and `import` read. */
export type BlueprintFile = {
  title: string
  description?: string
  tags?: string[]
  environment_variables?: unknown[]
  blueprint_map: JsonObject
  triggers?: FileTrigger[]
}
/** A fault of a file, with its place. */
export type FileFault = { where: string; message: string }
/** A parsed file: its content, or why it has none. `notes` do not prevent an import. */
export type ReadFile =
  | { file: BlueprintFile; faults: []; notes: FileFault[] }
  | { file?: undefined; faults: FileFault[]; notes: FileFault[] }

const members = [
  'title',
  'description',
  'tags',
  'environment_variables',
  'blueprint_map',
  'triggers',
  'status',
  'visibility',
  'owner',
  'organization',
  'budget',
]
const secretConfig = ['secret', 'signingSecret', 'previousSecret', 'previousSigningSecret']
const largest = 5 * 1024 * 1024

type Blueprint = {
  title: string
  description: string
  tags: string[]
  environment_variables: unknown[]
  blueprint_map: unknown
}
type Trigger = { trigger_type: string; config: JsonObject; is_active: boolean }

/** The text of a blueprint file. Secrets are null; a mail address, which belongs to this server, is omitted. */
export function toFile(blueprint: Blueprint, triggers: Trigger[]): string {
  const file: JsonObject = { title: blueprint.title }
  if (blueprint.description) file.description = blueprint.description
  if (blueprint.tags.length > 0) file.tags = blueprint.tags
  if (blueprint.environment_variables.length > 0)
    file.environment_variables = blueprint.environment_variables.map(withoutSecret)
  file.blueprint_map = blueprint.blueprint_map ?? { nodes: [] }
  if (triggers.length > 0) {
    file.triggers = triggers.map(({ trigger_type, config, is_active }) => ({
      triggerType: trigger_type,
      config: portable(trigger_type, config),
      ...(is_active ? {} : { isActive: false }),
    }))
  }
  return `${show(file)}\n`
}

/** The file name of a blueprint: `daily-report.blueprint.json`. */
export function fileName(title: string): string {
  return `${fileStem(title)}.blueprint.json`
}

/** Parses the text of a file. Only its shape is checked; the server checks nodes and configs. */
export function readFile(text: string, name = ''): ReadFile {
  const refused = (where: string, message: string): ReadFile => ({ faults: [{ where, message }], notes: [] })
  if (/\.ya?ml$/i.test(name)) return refused('', fileText.thisPageReadsJsonFilesFrom)
  if (text.length > largest) return refused('', fileText.theFileIsLargerThan5)
  if (text.includes('\0')) return refused('', fileText.thisIsNotATextFile)
  const json = text.replace(/^\uFEFF/, '')
  const fault = checkJson(json)
  if (fault) return refused(fileText.lineColumn(fault.line, fault.column), fault.message)
  const value = parseJson(json)
  if (!isObject(value)) return refused('', fileText.aBlueprintFileMustBeAn)
  // The editor copies only a map.
  const object =
    Array.isArray(value.nodes) && value.blueprint_map === undefined
      ? { title: stem(name), blueprint_map: value }
      : value
  const faults: FileFault[] = []
  const wrong = (where: string, message: string) => faults.push({ where, message })
  if (typeof object.title !== 'string' || object.title.trim() === '') wrong('title', fileText.mustBeANonEmptyString)
  if (!isObject(object.blueprint_map)) wrong('blueprint_map', fileText.mustBeAnObjectWithNodes)
  else if (!Array.isArray(object.blueprint_map.nodes)) wrong('blueprint_map.nodes', fileText.mustBeAListOfNodes)
  if (object.description !== undefined && typeof object.description !== 'string')
    wrong('description', fileText.mustBeAString)
  if (object.tags !== undefined && !(Array.isArray(object.tags) && object.tags.every((tag) => typeof tag === 'string')))
    wrong('tags', fileText.mustBeAListOfStrings)
  if (
    object.environment_variables !== undefined &&
    object.environment_variables !== null &&
    !Array.isArray(object.environment_variables)
  )
    wrong('environment_variables', fileText.mustBeAList)
  const triggers = readTriggers(object.triggers, wrong)
  const notes = Object.keys(object)
    .filter((key) => !members.includes(key))
    .map((key) => ({ where: key, message: fileText.unknownFieldIgnored }))
  if (faults.length > 0) return { faults, notes }
  const file: BlueprintFile = { title: object.title as string, blueprint_map: object.blueprint_map as JsonObject }
  if (object.description) file.description = object.description as string
  if (object.tags) file.tags = object.tags as string[]
  if (object.environment_variables) file.environment_variables = object.environment_variables as unknown[]
  if (triggers.length > 0) file.triggers = triggers
  return { file, faults: [], notes }
}

/**
 * The config for creating a trigger whose secrets were omitted by export; undefined if it cannot be created without
 * one.
 */
export function configToCreate(trigger: FileTrigger, secret = ''): JsonObject | undefined {
  const config = Object.fromEntries(
    Object.entries(trigger.config).filter(([key, value]) => value !== null && key !== 'address'),
  )
  if (secret && trigger.triggerType === 'slack') config.signingSecret = secret
  if (secret && trigger.triggerType === 'webhook') config.secret = secret
  return trigger.triggerType === 'slack' && !config.signingSecret ? undefined : config
}

/** Reports whether a trigger's own secret is missing in the file. */
export function lacksSecret({ triggerType, config }: FileTrigger): boolean {
  return triggerType === 'slack' ? !config.signingSecret : triggerType === 'webhook' && config.secret === null
}

function readTriggers(value: unknown, wrong: (where: string, message: string) => void): FileTrigger[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    wrong('triggers', fileText.mustBeAList)
    return []
  }
  return value.flatMap((item: unknown, index): FileTrigger[] => {
    if (!isObject(item)) wrong(`triggers[${index}]`, fileText.mustBeAnObject)
    else if (typeof item.triggerType !== 'string') wrong(`triggers[${index}].triggerType`, fileText.mustBeTheNameOfA)
    else if (item.config !== undefined && item.config !== null && !isObject(item.config))
      wrong(`triggers[${index}].config`, fileText.mustBeAnObject)
    else
      return [
        {
          triggerType: item.triggerType,
          config: isObject(item.config) ? item.config : {},
          ...(typeof item.isActive === 'boolean' ? { isActive: item.isActive } : {}),
        },
      ]
    return []
  })
}

function withoutSecret(variable: unknown): unknown {
  return isObject(variable) && variable.secret === true && Object.hasOwn(variable, 'default')
    ? { ...variable, default: null }
    : variable
}

function portable(type: string, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => type !== 'email' || key !== 'address')
      .map(([key, value]) => [key, secretConfig.includes(key) ? null : value]),
  )
}

function stem(name: string): string {
  return name.replace(/(\.blueprint)?\.json$/i, '') || fileText.importedBlueprint
}
