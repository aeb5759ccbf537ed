import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Ir, Route } from '../ir/resources.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { validate } from '../schema/validate.ts'
import { backendsOf } from './backend-references.ts'
import { checkFile } from './check.ts'
import type { ProcessConfig } from './config/schema.ts'
import { readApis } from './read-apis.ts'
import { readReferencedFiles } from './read-referenced-files.ts'
import { readEnvironment } from './environment.ts'
import type { PlacedProblem } from './placed-problem.ts'
import { findReferences, isTo } from './references.ts'
import { exposeOauth } from './expose-oauth.ts'
import { configFile } from './schema.ts'
import type { Environment } from './substitute.ts'
import { translate } from './translate.ts'
import { Spot } from './tree.ts'
import { parseYaml } from './yaml.ts'

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
  const yaml = parseYaml(text, options.file, options.env)
  if (yaml.value === undefined) return { ok: false, problems: yaml.problems }
  const place = (problem: Problem): PlacedProblem => ({ ...problem, place: yaml.placeOf(problem.path, problem.at) })
  // An empty file is an empty config.
  const input = yaml.value ?? {}
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
  const environment = readEnvironment(options.env, (key) => root.in('config', key).exists)
  const found = [
    ...(validated.ok ? [] : validated.problems),
    ...checked.problems,
    ...read.problems,
    ...(apis?.problems ?? []),
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
  return {
    ok: true,
    ir,
    process: environment.apply(validated.value.config),
    files: read.files,
    warnings: [...checked.warnings, ...apis.warnings].map(place),
  }
}

/** Routes come in the order of the file, below their listeners. */
function routePath(ir: Ir, { listener: key, order }: Route): Path {
  const { bind } = ir.listeners.find((listener) => listener.key === key)!
  const listeners = ir.listeners.filter((listener) => listener.bind === bind)
  const indexes = [
    ir.binds.findIndex((each) => each.key === bind),
    listeners.findIndex((listener) => listener.key === key),
  ]
  return ['binds', indexes[0]!, 'listeners', indexes[1]!, 'routes', order]
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
