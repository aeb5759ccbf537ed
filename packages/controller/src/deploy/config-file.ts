import { configFile as fileSchema, validate } from '@portico/gateway/schema'
import { stringify } from 'yaml'
import { isObject, type JsonObject, listAt, member } from './json.ts'
import type { Typed } from './parameters.ts'
import { printProblem } from './print-problem.ts'

/** The config file of a data plane: `rawConfig` with what typed fields say on top. Its routes come from the controller. */
export function configFile({ rawConfig = {}, logging = {} }: Typed): string {
  const typed = Object.keys(logging).length === 0 ? {} : { config: { logging } }
  const config = merged({ config: {}, ...rawConfig }, typed)
  return stringify(config, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** What a data plane would refuse to start with. What variables make of a text is known only there. */
export function rawConfigProblems({ rawConfig = {} }: Typed): string[] {
  const programs = programsIn(rawConfig, ['rawConfig']).map(
    (place) => `${place}: programs are not started from resources`,
  )
  if (JSON.stringify(rawConfig).includes('${')) return programs
  const read = validate(fileSchema, rawConfig)
  if (read.ok) return programs
  const problems = read.problems.map((problem) => printProblem({ ...problem, path: ['rawConfig', ...problem.path] }))
  return [...programs, ...problems]
}

/** MCP targets that are programs: a file may name them, a resource may not. */
function programsIn(value: unknown, path: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => {
    const at = [...path, name]
    const isTarget = path.at(-2) === 'targets' || path.at(-1) === 'targets'
    return name === 'stdio' && isTarget ? [at.join('.')] : programsIn(child, at)
  })
}

/** Ports that `rawConfig` opens, as numbers. */
export function portsOf({ rawConfig }: Typed): number[] {
  return listAt(rawConfig, 'binds').flatMap((bind) => {
    const port = member(bind, 'port')
    return typeof port === 'number' ? port : []
  })
}

/** Maps are merged, all else is replaced. */
function merged(below: JsonObject, above: JsonObject): JsonObject {
  const entries = Object.entries(above).map(([name, value]): [string, unknown] => {
    const was = member(below, name)
    return [name, isObject(was) && isObject(value) ? merged(was, value) : value]
  })
  return Object.fromEntries([...Object.entries(below), ...entries])
}
