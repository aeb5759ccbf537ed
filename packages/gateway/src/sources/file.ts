import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Ir, Route } from '../ir/resources.ts'
import type { ConfigFault } from '../pipeline/config-fault.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { unwrapLists } from '../schema/list-of-one.ts'
import { validate } from '../schema/validate.ts'
import { backendsOf } from './backend-references.ts'
import { checkTools } from './check-tools.ts'
import { checkFile } from './check.ts'
import type { ProcessConfig } from './config/schema.ts'
import { readApis } from './read-apis.ts'
import { readReferencedFiles } from './read-referenced-files.ts'
import { readEnvironment } from './environment.ts'
import type { PlacedProblem } from './placed-problem.ts'
import { printProblem } from './print-problems.ts'
import { findReferences, isTo } from './references.ts'
import { exposeOauth } from './expose-oauth.ts'
import { configFile } from './schema.ts'
import type { Environment } from './substitute.ts'
import { translate } from './translate.ts'
import { Spot } from './tree.ts'
import { type ParsedYaml, parseWithPlaces, parseYaml } from './yaml.ts'

export interface LoadOptions {
  /** Name of the config in messages. */
  file: string
  /** Folder that other files are relative to. */
  dir: string
  env: Environment
  readFile?: (path: string) => string
}

export interface LoadedConfig {
  ok: true
  ir: Ir
  process: ProcessConfig
  /** Absolute paths of the certificates, keys, secrets and other files that were read. */
  files: string[]
  warnings: PlacedProblem[]
  /** What shows only when the config is put together, as a text with its place. */
  explain(this: void, fault: ConfigFault): string
}

export interface RefusedConfig {
  ok: false
  problems: PlacedProblem[]
  /** As far as they are known: a change in one of them may heal the config. */
  files?: string[]
}

export type LoadResult = LoadedConfig | RefusedConfig

/** Turns the text of a config file into resources, or into everything that is wrong with it. */
export function loadConfig(text: string, options: LoadOptions): LoadResult {
  // Whoever writes a file in place empties it first: that is no wish to close every port.
  if (text.trim() === '')
    return { ok: false, problems: [{ ...EMPTY, place: { file: options.file, line: 1, column: 1 } }] }
  const yaml = parseYaml(text, options.file, options.env)
  if (yaml.value === undefined) return { ok: false, problems: yaml.problems }
  const place = (problem: Problem): PlacedProblem => ({ ...problem, place: yaml.placeOf(problem.path, problem.at) })
  // A file of comments is a config without anything.
  const input = yaml.value ?? {}
  unwrapLists(configFile, input)
  const root = new Spot(input)
  const validated = validate(configFile, input)
  const references = findReferences(configFile, root)
  const checked = checkFile(root, references)
  const read = readReferencedFiles(references.filter(isTo('contents')), {
    dir: resolve(options.dir),
    env: options.env,
    readFile: options.readFile ?? ((path) => readFileSync(path, 'utf8')),
  })
  if (validated.ok) read.fillIn(validated.value)
  const apis = validated.ok ? readApis(validated.value) : null
  const tools = validated.ok && apis !== null ? checkTools(validated.value, apis.toolsOf) : null
  const environment = readEnvironment(options.env, (key) => root.in('config', key).exists)
  const found = [
    ...(validated.ok ? [] : validated.problems),
    ...checked.problems,
    ...read.problems,
    ...(apis?.problems ?? []),
    ...(tools?.problems ?? []),
  ].map(place)
  // A value that could not be filled in is wrong in its own way already.
  const unfilled = new Set(yaml.problems.map(({ place: spot }) => JSON.stringify(spot)))
  const rest = found.filter((problem) => !unfilled.has(JSON.stringify(problem.place)))
  const problems = [...[...yaml.problems, ...rest].toSorted(byPlace), ...environment.problems]
  if (!validated.ok || apis === null || problems.length > 0) return { ok: false, problems, files: read.files }
  const ir = translate(validated.value, { backends: backendsOf(references.filter(isTo('backend'))), ...apis })
  const conflicts = exposeOauth(ir)
  if (conflicts.length > 0) {
    const paths = conflicts.map((route) => routePath(ir, route))
    return { ok: false, problems: paths.map((path) => place({ ...TWO_AUTHENTICATIONS, path })), files: read.files }
  }
  let parsed: ParsedYaml | null = null
  return {
    ok: true,
    ir,
    process: environment.apply(validated.value.config),
    files: read.files,
    warnings: [...checked.warnings, ...apis.warnings, ...(tools?.warnings ?? [])].map(place),
    explain({ part, path: rest, found, expected }) {
      const path = [...(pathTo(part, validated.value) ?? []), ...rest]
      // Parsed anew, because a config that is fine should not keep every place of its text in memory.
      parsed ??= parseWithPlaces(text, options.file, options.env)
      const where = { path, at: 'key' as const, place: parsed.placeOf(path, 'key') }
      return printProblem({ code: 'conflict', ...where, found, expected, suggestion: null })
    },
  }
}

/** Where in the config that very part stands; null when it is not from there. */
function pathTo(part: object | null, value: unknown): Path | null {
  if (part === null || typeof value !== 'object' || value === null) return null
  if (value === part) return []
  for (const [key, child] of Object.entries(value)) {
    const rest = pathTo(part, child)
    if (rest !== null) return [Array.isArray(value) ? Number(key) : key, ...rest]
  }
  return null
}

/** Routes come in the order of the file, below their listeners. */
function routePath(ir: Ir, route: Route): Path {
  const { listener: key } = route
  const { bind } = ir.listeners.find((listener) => listener.key === key)!
  const listeners = ir.listeners.filter((listener) => listener.bind === bind)
  const indexes = [
    ir.binds.findIndex((each) => each.key === bind),
    listeners.findIndex((listener) => listener.key === key),
  ]
  const routes = ir.routes.filter(({ listener }) => listener === key)
  return ['binds', indexes[0]!, 'listeners', indexes[1]!, 'routes', routes.indexOf(route)]
}

const EMPTY: Problem = {
  code: 'missing_key',
  path: [],
  at: 'value',
  found: 'found an empty file',
  expected: 'a config with `binds`',
  suggestion: null,
}

const TWO_AUTHENTICATIONS: Omit<Problem, 'path'> = {
  code: 'conflict',
  at: 'key',
  found: 'found backends with different `mcp.authentication`',
  expected: 'one for the whole route',
  suggestion: 'use `jwtAuthentication.mcp`',
}

function byPlace({ place: a }: PlacedProblem, { place: b }: PlacedProblem): number {
  if ('variable' in a || 'variable' in b) return 0
  return a.line - b.line || a.column - b.column
}
