import { configFile as fileSchema, validate } from '@portico/gateway/schema'
import { stringify } from 'yaml'
import { isObject } from '@portico/http/json'
import { type JsonObject, listAt, member } from '@portico/translate/json'
import type { TypedParameters } from './parameters.ts'
import { printProblem } from './print-problem.ts'

/**
 * Returns the config file of a data plane: `rawConfig`, overridden by the typed fields. Its routes come from the
 * controller.
 */
export function configFile({ rawConfig = {}, logging = {}, mesh }: TypedParameters): string {
  const settings = { ...(Object.keys(logging).length > 0 && { logging }), ...(mesh && { mesh }) }
  const typed = Object.keys(settings).length === 0 ? {} : { config: settings }
  const config = mergeObjects({ config: {}, ...rawConfig }, typed)
  return stringify(config, { lineWidth: 0, aliasDuplicateObjects: false })
}

/**
 * Reports settings with which a data plane would not start. A `rawConfig` with variables (`${`) is only searched for
 * programs, because the values of variables are known only to the data plane.
 */
export function rawConfigProblems({ rawConfig = {} }: TypedParameters): string[] {
  const programs = programsIn(rawConfig, ['rawConfig']).map(
    (place) => `${place}: stdio targets are not allowed in resources`,
  )
  if (JSON.stringify(rawConfig).includes('${')) return programs
  const read = validate(fileSchema, rawConfig)
  if (read.ok) return programs
  const problems = read.problems.map((problem) => printProblem({ ...problem, path: ['rawConfig', ...problem.path] }))
  return [...programs, ...problems]
}

/** Finds MCP targets that start programs: a file may contain them, a resource may not. */
function programsIn(value: unknown, path: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const at = [...path, name]
    const isTarget = path.at(-2) === 'targets' || path.at(-1) === 'targets'
    return name === 'stdio' && isTarget ? [at.join('.')] : programsIn(child, at)
  })
}

/** The ports that `rawConfig` opens. */
export function portsOf({ rawConfig }: TypedParameters): number[] {
  return listAt(rawConfig, 'binds').flatMap((bind) => {
    const port = member(bind, 'port')
    return typeof port === 'number' ? port : []
  })
}

/** Merges objects recursively; any other value in `above` replaces the one in `below`. */
function mergeObjects(below: JsonObject, above: JsonObject): JsonObject {
  const entries = Object.entries(above).map(([name, value]): [string, unknown] => {
    const was = member(below, name)
    return [name, isObject(was) && isObject(value) ? mergeObjects(was, value) : value]
  })
  return Object.fromEntries([...Object.entries(below), ...entries])
}
