import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Ir, Route } from '../ir/resources.ts'
import type { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import type { Path, Problem } from '../schema/problem.ts'
import { unwrapLists } from '../schema/unwrap-singletons.ts'
import { type ValidationResult, validate } from '../schema/validate.ts'
import { backendsOf } from './check/backend-references.ts'
import { checkTools } from './mcp/check-tools.ts'
import { checkFile } from './check/check.ts'
import type { ProcessConfig } from './config/schema.ts'
import { expandLlm, type ExpandedConfig } from './llm/expand-llm.ts'
import { readApis } from './mcp/read-apis.ts'
import { type AbsentPem, readReferencedFiles } from './files/read-referenced-files.ts'
import { readEnvironment } from './environment/environment.ts'
import type { ConfigLocation, LocatedProblem } from './located-problem.ts'
import { printProblem } from './print-problems.ts'
import { findReferences, isTo } from './check/references.ts'
import { exposeOauth } from '../ir/expose-oauth.ts'
import type { PartCache } from './part-cache.ts'
import { type ConfigFile, configFile } from './schema.ts'
import type { SettledParts } from './check/settled.ts'
import type { Environment } from './substitute.ts'
import { withStandardExports } from './environment/standard-exports.ts'
import { translate } from './translate.ts'
import { withoutProblems } from './without-problems.ts'
import { Spot } from './check/tree.ts'
import { type ParsedYaml, parseYaml } from './yaml/yaml.ts'

export interface LoadOptions {
  /** Name of the config in messages. */
  file: string
  /** Folder that other files are relative to. */
  dir: string
  env: Environment
  readFile?: (path: string) => string
  /** Returns stand-ins for absent certificate and key files; when undefined, absent files are problems. */
  absentPem?: AbsentPem
}

/** A config that can be compiled, to find faults that only compilation shows. */
export interface CheckableConfig {
  ir: Ir
  /** Prints a fault of compilation with its location. */
  explain(this: void, fault: ConfigFault): string
}

/** Finds the location in the file of a part of the IR, or of the value at a path below it; null for parts that are not from the file. */
export type Locate = (this: void, part: object, path: Path) => Extract<ConfigLocation, { file: string }> | null

export interface LoadedConfig extends CheckableConfig {
  ok: true
  /** `namespace/name` of the Gateway, for configs of manifests. */
  gateway?: string
  process: ProcessConfig
  /** Undefined when the config is not a single file. */
  locate?: Locate
  /** The values of a single file, with defaults, and the location of a path in them; undefined for manifests. */
  tree?: { config: ConfigFile; locationOf(this: void, path: Path): ConfigLocation }
  /** The location of a path in a resource of manifests; undefined for a single file. */
  locateIn?(this: void, resource: { kind: string; namespace: string; name: string }, path: Path): ConfigLocation | null
  /** The text of the config, with its file and folder. */
  text?: { text: string; file: string; dir: string }
  /** Absolute paths of the certificates, keys, secrets and other files that were read. */
  files: string[]
  warnings: LocatedProblem[]
  /** Addresses of Services by the keys of their backends; undefined when the config has no Services. */
  endpoints?: Readonly<Record<string, readonly string[]>>
}

interface RefusedConfig {
  ok: false
  problems: LocatedProblem[]
  /** The files that were read so far: a change in one of them may fix the config. */
  files?: string[]
  /** The config without the parts at fault, to find its problems too; null when nothing is left. */
  rest?: CheckableConfig | null
}

export type LoadResult = LoadedConfig | RefusedConfig

/**
 * Converts the text of a config file to resources, or reports all of its problems. Parts that `known` contains are not
 * read again and give the same objects.
 */
export function loadConfig(text: string, options: LoadOptions, known: PartCache | null = null): LoadResult {
  // A program that writes a file in place empties it first; an empty text must not close every port.
  if (text.trim() === '')
    return { ok: false, problems: [{ ...EMPTY, location: { file: options.file, line: 1, column: 1 } }] }
  const {
    problems: broken,
    locationOf,
    originOf,
    ...parts
  } = readParts(text, options, known) ?? readWhole(text, options)
  const { input } = parts
  if (input === undefined) return { ok: false, problems: broken }
  const locate = (problem: Problem): LocatedProblem => ({
    ...problem,
    path: originOf(problem.path),
    location: locationOf(problem.path, problem.at),
  })
  const explainer: Explainer = (value, ir) => (fault) => {
    const path = [...(pathTo(fault.part, value) ?? listenerPath(fault.part, ir) ?? []), ...fault.path]
    const where = { path: originOf(path), at: 'key' as const, location: locationOf(path, 'key') }
    return printProblem({ code: 'conflict', ...where, found: fault.found, expected: fault.expected, suggestion: null })
  }
  const seen = assess(parts, options)
  const environment = readEnvironment(options.env, (key) => new Spot(input).in('config', key).exists)
  // A value with an unresolved variable has its own problem already.
  const unfilled = new Set(broken.map(({ location: spot }) => JSON.stringify(spot)))
  const rest = seen.problems.map(locate).filter((problem) => !unfilled.has(JSON.stringify(problem.location)))
  const exported = seen.whole === null ? null : withStandardExports(seen.whole.ir, options.env)
  const ofVariables = [...environment.problems, ...(exported?.problems ?? [])]
  const problems = [...[...broken, ...rest].toSorted(byLocation), ...ofVariables]
  if (seen.whole === null || exported === null || problems.length > 0) {
    return { ok: false, problems, files: seen.files, rest: restOf(input, seen, { options, explainer }) }
  }
  const { config } = seen.whole
  const { ir } = exported
  return {
    ok: true,
    ir,
    process: environment.apply(config.config),
    files: seen.files,
    warnings: seen.warnings.map(locate),
    explain: explainer(config, ir),
    tree: { config, locationOf: (path) => locationOf(path, 'key') },
    locate: (part, path) => {
      // Listeners and routes are objects of the IR, so a search of the whole config would not find them.
      const start = listenerPath(part, ir) ?? routePathOf(part, ir) ?? pathTo(part, config)
      const found = start === null ? null : locationOf([...start, ...path], 'key')
      return found !== null && 'file' in found ? found : null
    },
  }
}

interface Parts {
  /** Undefined when the text cannot be parsed. */
  input: unknown
  validated: ValidationResult<ConfigFile>
  settled: SettledParts | null
}

type ReadText = Parts & Pick<ParsedYaml, 'problems' | 'locationOf'> & Pick<ExpandedConfig, 'originOf'>

function readParts(text: string, { file, env }: LoadOptions, known: PartCache | null): ReadText | null {
  const read = known?.read(text, file, env) ?? null
  if (read === null) return null
  const { config, ...rest } = read
  return { ...rest, validated: { ok: true, value: config }, problems: [], originOf: (path) => path }
}

function readWhole(text: string, { file, env }: LoadOptions): ReadText {
  const { value, problems, locationOf } = parseYaml(text, file, env)
  // A file of comments is a config without anything.
  const { originOf, ...parts } = partsOf(value === null ? {} : value)
  return { ...parts, problems, originOf, locationOf: (path, at) => locationOf(originOf(path), at) }
}

function partsOf(input: unknown): Parts & Pick<ExpandedConfig, 'originOf'> {
  unwrapLists(configFile, input)
  const validated = validate(configFile, input)
  const { value, originOf } = expandLlm(input)
  // Problems of `llm` are found where they are; the other steps see only the long form.
  const isExpanded = validated.ok && value !== input
  return { input: value, originOf, validated: isExpanded ? validate(configFile, value) : validated, settled: null }
}

type Explainer = (value: ConfigFile, ir: Ir) => CheckableConfig['explain']

interface Assessment {
  problems: Problem[]
  warnings: Problem[]
  files: string[]
  /** Null when there are problems. */
  whole: { config: ConfigFile; ir: Ir } | null
}

/** Validates a config and translates it, without compiling it. */
function assess({ input, validated, settled }: Parts, options: LoadOptions): Assessment {
  const root = new Spot(input)
  const references = findReferences(configFile, root, settled)
  const checked = checkFile(root, references, settled)
  const read = readReferencedFiles(references.filter(isTo('contents')), {
    dir: resolve(options.dir),
    env: options.env,
    readFile: options.readFile ?? ((path) => readFileSync(path, 'utf8')),
    absentPem: options.absentPem ?? null,
  })
  const { files } = read
  const found = [...(validated.ok ? [] : validated.problems), ...checked.problems, ...read.problems]
  const { warnings } = checked
  if (!validated.ok) return { problems: found, warnings, files, whole: null }
  const config = validated.value
  read.fillIn(config)
  const apis = readApis(config)
  const tools = checkTools(config, apis.toolsOf)
  const problems = [...found, ...apis.problems, ...tools.problems]
  warnings.push(...apis.warnings, ...tools.warnings)
  if (problems.length > 0) return { problems, warnings, files, whole: null }
  const ir = translate(config, { backends: backendsOf(references.filter(isTo('backend'))), ...apis })
  const conflicts = exposeOauth(ir).map((route) => ({ ...TWO_AUTHENTICATIONS, path: routePath(ir, route) }))
  return { problems: conflicts, warnings, files, whole: conflicts.length > 0 ? null : { config, ir } }
}

/** Removes the parts with problems, up to four times, because a removal may cause other problems. Null when problems stay. */
function restOf(
  input: unknown,
  first: Assessment,
  { options, explainer }: { options: LoadOptions; explainer: Explainer },
): CheckableConfig | null {
  let [valid, seen] = [input, first]
  for (let round = 0; round < 4 && seen.problems.length > 0; round++) {
    valid = withoutProblems(valid, seen.problems)
    seen = assess(partsOf(valid), options)
  }
  if (seen.whole === null) return null
  const { ir, config } = seen.whole
  return { ir, explain: explainer(config, ir) }
}

/** The path of a part in the config, found by identity; null when the part is not from the config. */
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
  const listener = ir.listeners.find(({ key }) => key === route.listener) ?? null
  const routes = ir.routes.filter(({ listener: key }) => key === route.listener)
  return [...(listenerPath(listener, ir) ?? []), 'routes', routes.findIndex(({ key }) => key === route.key)]
}

function routePathOf(part: object, ir: Ir): Path | null {
  const route = ir.routes.find((each) => each === part)
  return route === undefined ? null : routePath(ir, route)
}

/** The path of a listener of the IR, which is not an object of the config; null for other parts. */
function listenerPath(part: object | null, ir: Ir): Path | null {
  const listener = ir.listeners.find((each) => each === part)
  if (listener === undefined) return null
  const bind = ir.binds.findIndex(({ key }) => key === listener.bind)
  const index = ir.listeners.filter((each) => each.bind === listener.bind).indexOf(listener)
  return ['binds', bind, 'listeners', index]
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

function byLocation({ location: a }: LocatedProblem, { location: b }: LocatedProblem): number {
  if ('variable' in a || 'variable' in b) return 0
  return a.line - b.line || a.column - b.column
}
